/** Strikes on the daemon: it is killed when something has happened so often, and started again. */
import { expect } from 'vitest';
import type { Daemon } from '../support/daemon.ts';
import type { Crms } from '../support/fixture.ts';

export interface Strikes<What extends string> {
  /** Something happened: once more, or so many times more. */
  count(what: What, times?: number): void;
  /** Resolves while no strike is under way. */
  ended(): Promise<void>;
  readonly done: number;
}

/**
 * Strikes when a count reaches one of its numbers; the second strike asks the daemon to stop, all others kill it. While it
 * is down and both CRMs are quiet, `whileDown` may do what would else be a race.
 */
export function strikesOn<What extends string>(
  daemon: Daemon,
  crms: Crms,
  at: Readonly<Record<What, readonly number[]>>,
  whileDown: (strike: number) => void,
): Strikes<What> {
  const counts = new Map<What, number>();
  const due = new Map(Object.entries<readonly number[]>(at).map(([what, numbers]) => [what, [...numbers]]));
  let striking: Promise<void> | undefined;
  let done = 0;

  async function strike(): Promise<void> {
    done++;
    const [signal, end] =
      done === 2
        ? (['SIGTERM', { code: 0, signal: null }] as const)
        : (['SIGKILL', { code: null, signal: 'SIGKILL' }] as const);
    expect(await daemon.kill(signal)).toEqual(end);
    await quiet(crms);
    whileDown(done);
    await daemon.start();
    striking = undefined;
    // What came due meanwhile: no later count may follow that would ask for it.
    for (const what of counts.keys()) strikeIfDue(what);
  }

  function strikeIfDue(what: What): void {
    const numbers = due.get(what) ?? [];
    if (striking !== undefined || (counts.get(what) ?? 0) < (numbers[0] ?? Number.POSITIVE_INFINITY)) return;
    numbers.shift();
    striking = strike();
  }

  return {
    count(what, times = 1) {
      counts.set(what, (counts.get(what) ?? 0) + times);
      strikeIfDue(what);
    },
    async ended() {
      while (striking !== undefined) await striking;
    },
    get done() {
      return done;
    },
  };
}

/** Lets the emulators finish what a killed daemon had sent: a request that was asked before it is answered before it. */
export async function quiet({ hubspot, salesforce }: Crms): Promise<void> {
  for (const { url } of [hubspot, salesforce, hubspot, salesforce])
    await fetch(`${url}/quiet`).then((answer) => answer.arrayBuffer());
}
