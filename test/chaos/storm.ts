/** The events of a chaos test and the sender that posts them: repeated, out of order, and again until they are taken. */
import { setTimeout as sleep } from 'node:timers/promises';
import { payloadOf, writePayload } from '../../src/protocol/payload.ts';
import { fullStatePayload, type SampleCompany, sampleCompany } from '../../src/protocol/sample/company.ts';
import type { Random } from '../../src/protocol/sample/random.ts';
import { sampleCompanies } from '../../src/protocol/sample/stream.ts';
import { postWebhook } from '../support/fixture.ts';
import { type Sample, sampleStream } from '../support/sample-stream.ts';
import type { Last } from './fold.ts';

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

const HOUR_MS = 3_600_000;

/** True changes of some companies that are the newest of theirs and dated up to a day ahead: a sender's clock is ahead. */
export function soonSamples(last: ReadonlyMap<string, Last>, random: Random): readonly Sample[] {
  const chosen = [...last].filter(() => random.chance(0.4));
  return chosen.map(([entity, { company }], index): Sample => {
    const at = new Date(Date.now() + random.int(1, 23) * HOUR_MS).toISOString();
    const name = `${company.name} ${index} i morgen`;
    const updates = { name: { before: company.name, after: name } };
    return { payload: payloadOf(entity, at, updates), company: { ...company, name } };
  });
}

/** Events from the future: each says of a company all that is true of an invented one, 2 days to 100 years ahead. */
export function futureSamples(companies: readonly SampleCompany[], random: Random, count: number): readonly Sample[] {
  const days = [2, 3, 30, 365, 3_650, 36_500] as const;
  return Array.from({ length: count }, (_, index): Sample => {
    const company = random.pick([companies[index % companies.length] ?? sampleCompany(index), ...companies]);
    const wrong = { ...sampleCompany(900_000 + index), entityId: company.entityId, name: `Fremtid ${index} ApS` };
    const at = new Date(Date.now() + random.pick(days) * 24 * HOUR_MS + random.int(0, 1_000)).toISOString();
    return { payload: fullStatePayload(wrong, at), company };
  });
}

/** Both lists as one, each in its order, the second anywhere in the first. */
export function mixed<T>(all: readonly T[], others: readonly T[], random: Random): readonly T[] {
  const placed = others.map((other) => ({ other, place: random.int(0, all.length) }));
  return [...all.keys(), all.length].flatMap((place) => [
    ...placed.filter((each) => each.place === place).map(({ other }) => other),
    ...all.slice(place, place + 1),
  ]);
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
      await postUntilTaken(url, body, headers);
      onAcked();
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
}

/** Posts a body until it is answered with 204; `url` is undefined while nobody listens. */
export async function postUntilTaken(
  url: () => string | undefined,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (;;) {
    const to = url();
    const status = to === undefined ? 0 : await postWebhook(`${to}/webhook`, body, headers).catch(() => 0);
    if (status === 204) return;
    if (status !== 0 && status !== 503) throw new Error(`a webhook was answered with ${status}: ${body}`);
    await sleep(RETRY_MS);
  }
}
