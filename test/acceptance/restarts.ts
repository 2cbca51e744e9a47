/** What senders notice of a database or a daemon that restarts, behind the shipped proxy. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from './installation.ts';
import { startTraffic } from './traffic.ts';
import type { Outcome } from './trial.ts';

interface Restart {
  readonly name: string;
  run(at: Installation): Promise<void>;
  /** What senders may be answered. */
  readonly allowed: readonly number[];
}

const RESTARTS: readonly Restart[] = [
  {
    name: 'the database restarts',
    async run({ store }) {
      await store.stop();
      await store.start();
    },
    // A sender repeats what is answered 503.
    allowed: [204, 503],
  },
  {
    name: 'the daemons restart one by one',
    async run({ daemons }) {
      for (const daemon of daemons) {
        await daemon.end('SIGTERM');
        await daemon.startAgain();
      }
    },
    allowed: [204],
  },
];

const SENDERS = 8;
const AROUND_MS = 2_000;

export async function tryRestarts(at: Installation): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { name, run, allowed } of RESTARTS) {
    const senders = Array.from({ length: SENDERS }, () => startTraffic(at.sender, 10));
    await sleep(AROUND_MS);
    await run(at);
    await sleep(AROUND_MS);
    await Promise.all(senders.map((sender) => sender.stop()));
    const counts = new Map<number, number>();
    for (const [status, count] of senders.flatMap(({ answers }) => [...answers]))
      counts.set(status, (counts.get(status) ?? 0) + count);
    const wrong = [...counts].filter(([status]) => !allowed.includes(status));
    outcomes.push({
      cell: `${at.engine} ${at.form}`,
      what: name,
      told: [...counts].map(([status, count]) => `${count} answered ${status}`).join(', '),
      over: '',
      lines: 0,
      wrong: wrong.map(([status, count]) => `${count} answered ${status}`),
    });
  }
  return outcomes;
}
