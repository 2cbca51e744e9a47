/** The events of a chaos test and the sender that posts them: repeated, out of order, and again until they are taken. */
import { setTimeout as sleep } from 'node:timers/promises';
import { writePayload } from '../../src/protocol/payload.ts';
import { fullStatePayload } from '../../src/protocol/sample/company.ts';
import type { Random } from '../../src/protocol/sample/random.ts';
import { type Sample, sampleCompanies, sampleStream } from '../../src/protocol/sample/stream.ts';
import { postWebhook } from '../support/stage.ts';

export interface Message {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** How far a message may move from its place: late ones come after newer ones, of the same company too. */
const MOST_MOVED = 60;
const SENDERS = 6;
const RETRY_MS = 25;

/** All samples of a run: each company stated whole, then a stream of changes. */
export function samplesFor(seed: number, companies: number, changes: number): readonly Sample[] {
  const start = Date.UTC(2026, 0, 5, 7);
  const first = sampleCompanies(seed, companies).map((company, index): Sample => {
    const at = new Date(start - 86_400_000 + index * 1_000).toISOString();
    return { payload: fullStatePayload(company, at), company };
  });
  return [...first, ...sampleStream(seed, changes, { companies, start })];
}

/** The samples as a careless sender posts them: a third with an id, a quarter more than once, none in its place. */
export function shuffledMessages(samples: readonly Sample[], random: Random): readonly Message[] {
  const placed = samples.flatMap(({ payload }, index) => {
    const headers = random.chance(0.33) ? { 'webhook-id': `event-${index}` } : {};
    const message: Message = { body: JSON.stringify(writePayload(payload)), headers };
    const copies = random.chance(0.25) ? random.int(2, 3) : 1;
    return Array.from({ length: copies }, () => ({ message, place: index + random.int(0, MOST_MOVED) }));
  });
  return placed.toSorted((a, b) => a.place - b.place).map(({ message }) => message);
}

/** Posts every message until it is answered with 204, a few at a time; `url` is undefined while nobody listens. */
export async function sendAll(
  messages: readonly Message[],
  url: () => string | undefined,
  onAcked: () => void,
): Promise<void> {
  const queue = messages.values();
  const send = async (): Promise<void> => {
    // One iterator for all senders: each takes the next message.
    for (const { body, headers } of queue) {
      for (;;) {
        const to = url();
        const status = to === undefined ? 0 : await postWebhook(`${to}/webhook`, body, headers).catch(() => 0);
        if (status === 204) break;
        if (status !== 0 && status !== 503) throw new Error(`a webhook was answered with ${status}: ${body}`);
        await sleep(RETRY_MS);
      }
      onAcked();
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
}
