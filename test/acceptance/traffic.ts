/** A sender of webhooks: companies change their names, again and again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { writePayload } from '../../src/protocol/payload.ts';
import type { Clock } from './clock.ts';

export interface Traffic {
  /** Answers by their status. */
  readonly answers: ReadonlyMap<number, number>;
  /** The secret it sends. */
  secret: string;
  stop(): Promise<void>;
}

export interface Sender {
  readonly clock: Clock;
  readonly companies: readonly string[];
  readonly secret: string;
  /** Where the next webhook goes. */
  readonly to: () => string;
}

/** An answer that takes longer does not delay the next webhook. */
const PATIENCE_MS = 1_000;

/** `everyMs`: from one answer to the next webhook. */
export function startTraffic({ clock, companies, secret, to }: Sender, everyMs = 500): Traffic {
  const answers = new Map<number, number>();
  let isOver = false;
  const traffic = {
    answers,
    secret,
    async stop() {
      isOver = true;
      await running;
    },
  };
  const send = async (at: number): Promise<number> => {
    const [entityId = ''] = [companies[at % companies.length]];
    const round = Math.floor(at / companies.length);
    const name = { before: `Birk ${round - 1} ApS`, after: `Birk ${round} ApS` };
    const timestamp = new Date(clock.now()).toISOString();
    const answer = await fetch(`${to()}/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-webhook-key': traffic.secret },
      body: JSON.stringify(writePayload({ entityId, timestamp, updates: { name } })),
      signal: AbortSignal.timeout(15_000),
    }).catch(() => undefined);
    await answer?.arrayBuffer();
    return answer?.status ?? 0;
  };
  const running = (async () => {
    const sent = new Set<Promise<void>>();
    for (let at = 0; !isOver; at += 1) {
      const one = send(at).then((status) => void answers.set(status, (answers.get(status) ?? 0) + 1));
      sent.add(one);
      await Promise.race([one.then(() => sent.delete(one)), sleep(PATIENCE_MS)]);
      await sleep(everyMs);
    }
    await Promise.all(sent);
  })();
  return traffic;
}
