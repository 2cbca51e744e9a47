/** Endless plausible streams of payloads, with the state that they lead to. */
import { EVENT_NAMES, type EventName } from '../../src/protocol/events.ts';
import { type Payload, payloadOf, type Updates } from '../../src/protocol/payload.ts';
import { CHANGES } from '../../src/protocol/sample/change.ts';
import { fullStatePayload, type SampleCompany } from '../../src/protocol/sample/company.ts';
import { type Random, randomFrom } from '../../src/protocol/sample/random.ts';
import { sampleCompanies } from '../../src/protocol/sample/stream.ts';

/** A payload, and the company as the register says it is from then on. */
export interface Sample {
  readonly payload: Payload;
  readonly company: SampleCompany;
}

// What happens often, and what once in a company's life: a stream has no births, ends, mergers or monitor changes.
const ONCE: readonly EventName[] = [
  'newCompany',
  'lifetimeStarted',
  'lifetimeEnded',
  'merger',
  'addedToMonitor',
  'removedFromMonitor',
];
const OFTEN: readonly EventName[] = [
  'name',
  'address',
  'email',
  'phoneNumber',
  'website',
  'industry',
  'status',
  'monthlyEmployeeCount',
  'newReport',
];
const [FIRST = 'name', ...REST] = [...EVENT_NAMES.filter((name) => !ONCE.includes(name)), ...OFTEN, ...OFTEN];
const STREAMED: readonly [EventName, ...EventName[]] = [FIRST, ...REST];

/** Shapes a stream. */
interface StreamOptions {
  /** How many companies it is about. */
  readonly companies?: number;
  /** The first payload's time in ms since 1970; the others follow, each later than the one before. */
  readonly start?: number;
  /** The share of payloads that state the whole company. */
  readonly fullStates?: number;
}

/** One to three changes in one payload, each starting from what the one before it left. */
const changeOf = (company: SampleCompany, random: Random, at: string): Sample => {
  let after = company;
  let updates: Updates = {};
  for (let left = random.chance(0.2) ? random.int(2, 3) : 1; left > 0; left--) {
    const event = random.pick(STREAMED);
    if (Object.hasOwn(updates, event)) continue;
    const change = CHANGES[event](after, random, at);
    updates = { ...updates, ...change.updates };
    after = change.company;
  }
  return { payload: payloadOf(company.entityId, at, updates), company: after };
};

/**
 * A stream of changes to a number of companies, in order of time. Every `before` is what the company was, starting
 * from {@link sampleCompanies}; the same seed gives the same stream, and a longer one begins like a shorter one.
 */
export function* sampleStream(seed: number, count: number, options: StreamOptions = {}): Generator<Sample, void, void> {
  const { companies: size = 20, start = Date.UTC(2026, 0, 5, 7), fullStates = 0.05 } = options;
  const random = randomFrom(seed);
  const companies = [...sampleCompanies(seed, size)];
  let now = start;
  for (let made = 0; made < count; made++) {
    now += random.int(1, 90_000);
    const at = new Date(now).toISOString();
    const index = random.int(0, companies.length - 1);
    const company = companies[index];
    if (company === undefined) return;
    const sample = random.chance(fullStates)
      ? { payload: fullStatePayload(company, at), company }
      : changeOf(company, random, at);
    companies[index] = sample.company;
    yield sample;
  }
}
