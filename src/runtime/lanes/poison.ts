/**
 * Poison: an input whose reading kills the process or blocks it forever, after every start again. Only a claim that was
 * never settled reveals it. The inputs of such a run are then read one at a time, and the start of each is stored
 * first; an input that started too often is quarantined. The review shows it as a parked lane of {@link INPUT_QUEUE},
 * which has no worker: the source looks there for inputs to retry.
 */
import PQueue from 'p-queue';
import { isJsonObject } from '../../protocol/text/json.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Store, Tx } from '../../store/store.ts';
import { park, parked } from './lane-state.ts';
import type { Claim } from './settlement.ts';

export const INPUT_QUEUE = 'input';

/** Starts without an end that an input may cause: a process also dies for other reasons. */
const MOST_BEGINNINGS = 3;

/** Why an input is not read again, if it started too often. Pure. */
export const poisonReason = (begun: number): string | undefined =>
  begun < MOST_BEGINNINGS
    ? undefined
    : `cvrsync began to read it ${begun} times, and each time the process died or froze: it does not read it again by itself`;

const one = new PQueue({ concurrency: 1 });

/** Reads one suspect at a time in this process, so that a crash counts only for the input being read. */
export const readAlone = <T>(read: () => Promise<T>): Promise<T> => one.add(read);

export interface InputReader {
  /** Whether an earlier run never ended: then read inputs one at a time. */
  readonly isSuspicious: boolean;
  /** Whether nothing of this source is quarantined and `read` reads everything. */
  readonly readsAll: boolean;
  /** Whether an input whose name starts like this is quarantined; saves building most whole names. */
  hasQuarantined(beginning: string): boolean;
  /** Reads an input and stores the result; false, without reading, if the input is quarantined. */
  read(input: string, read: () => Promise<void>): Promise<boolean>;
}

export interface InputOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly log: { warn(details: object, message: string): void };
  /** Names the source, one word; the names of inputs follow it. */
  readonly source: string;
  readonly claims: readonly Claim[];
  /** Makes the source offer these inputs again, as a person decided. */
  retry(tx: Tx, inputs: readonly string[]): Promise<void>;
}

/** Creates the reader of one run. A normal run reads the quarantine once. */
export async function createInputReader(options: InputOptions): Promise<InputReader> {
  const { store, source, claims } = options;
  await takeRetried(options);
  const prefix = `${source} `;
  const lanes = (await parked(store.db, INPUT_QUEUE)).filter(({ key }) => key.startsWith(prefix));
  const quarantined = new Set(lanes.map(({ key }) => key.slice(prefix.length)));
  const isSuspicious = claims.some(({ unended }) => unended > 0);
  return {
    isSuspicious,
    readsAll: !isSuspicious && quarantined.size === 0,
    hasQuarantined: (beginning) => quarantined.values().some((input) => input.startsWith(beginning)),
    async read(input, read) {
      if (quarantined.has(input)) return false;
      if (isSuspicious) return readAlone(() => readSuspect(options, input, read));
      await read();
      return true;
    },
  };
}

async function readSuspect(options: InputOptions, input: string, read: () => Promise<void>): Promise<boolean> {
  if (!(await begin(options, input))) return false;
  try {
    await read();
  } finally {
    // Even if it threw: the process survived.
    await changeCounts(options, ({ [input]: _, ...others }) => others);
  }
  return true;
}

async function begin(options: InputOptions, input: string): Promise<boolean> {
  const { store, now, log, source } = options;
  const counts = await readCounts(store, source);
  const reason = poisonReason(counts[input] ?? 0);
  if (reason === undefined) {
    await changeCounts(options, (before) => ({ ...before, [input]: (before[input] ?? 0) + 1 }));
    return true;
  }
  await store.write((tx) => park(tx, INPUT_QUEUE, `${source} ${input}`, { at: now(), error: reason }));
  await changeCounts(options, ({ [input]: _, ...others }) => others);
  log.warn({ source, input, reason }, 'an input was quarantined: see cvrsync review list');
  return false;
}

async function takeRetried({ store, source, retry }: InputOptions): Promise<void> {
  const retried = (db: Store['db'] | Tx) =>
    db
      .selectFrom('lane')
      .select('key')
      .where('queue', '=', INPUT_QUEUE)
      .where('key', 'like', `${source} %`)
      .where('parked_at', 'is', null);
  if ((await retried(store.db).limit(1).execute()).length === 0) return;
  await store.write(async (tx) => {
    const keys = (await retried(tx).execute()).map(({ key }) => key);
    await tx.deleteFrom('lane').where('queue', '=', INPUT_QUEUE).where('key', 'in', keys).execute();
    await retry(
      tx,
      keys.map((key) => key.slice(source.length + 1)),
    );
  });
}

type Counts = Readonly<Record<string, number>>;

async function readCounts({ db }: Pick<Store, 'db'>, source: string): Promise<Counts> {
  const json: unknown = JSON.parse((await readValue(db, countsKey(source))) ?? '{}');
  const entries = Object.entries(isJsonObject(json) ? json : {});
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
}

const changeCounts = ({ store, now, source }: InputOptions, change: (counts: Counts) => Counts): Promise<void> =>
  store.write(async (tx) => {
    const counts = change(await readCounts({ db: tx }, source));
    await writeValue(tx, countsKey(source), JSON.stringify(counts), now());
  });

const countsKey = (source: string): string => `begun ${source}`;
