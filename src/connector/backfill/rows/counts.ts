/** The counts of a plan, updated in the transaction that changes its rows, so that no page has to count them. */
import { type RawBuilder, sql } from 'kysely';
import { inPages, ROWS_AT_ONCE } from '../../../store/count.ts';
import { each } from '../../../store/each.ts';
import { readValue, writeValue } from '../../../store/kv.ts';
import type { Db, Store, Tx } from '../../../store/store.ts';
import { MISTYPED, VERDICTS, type Verdict } from '../../follow/verdict.ts';
import { type BackfillProgress, holdRun, lockRun } from './progress.ts';
import { IS_UNSURE, NEEDS_PERSON, PURPOSE } from './scan-rows.ts';

/** Numbers of rows by verdict; verdicts of no row are absent. */
type ByVerdict = Readonly<Partial<Record<Verdict, number>>>;

/** How many records have which verdict, and how far the linking has come. */
export interface ScanCounts {
  readonly verdicts: ByVerdict;
  /** Rows to be linked that are not yet. */
  readonly toLink: number;
  /** The same by their verdicts. */
  readonly linkable: ByVerdict;
  /** Rows that were to be linked and are. */
  readonly linked: number;
  /** Rows that were to be linked and could not be. */
  readonly failed: number;
  /** Rows that a person should look at. */
  readonly person: number;
  /** Of the matched ones: those whose number fails the register's check. */
  readonly mistyped: number;
  /** Of the matched ones: not linked, since their number fails the check or was given a leading zero. */
  readonly unsure: number;
}

const keyOf = (provider: string): string => `backfill:${provider}:counts`;

/** The counts of a connection's plan. Reads every row only while the plan is being made. */
export async function readCounts(db: Db, provider: string): Promise<ScanCounts> {
  return countsOf((await readKept(db, provider)) ?? (await countRows(db, provider)));
}

/** Counts the rows of a plan that was just made, and keeps the counts. */
export async function keepCounts(
  store: Store,
  provider: string,
  run: BackfillProgress,
  now: () => number,
): Promise<void> {
  const counts = await countRows(store.db, provider);
  await store.write(async (tx) => {
    await holdRun(tx, provider, run);
    await writeKept(tx, provider, counts, now());
  });
}

/** Forgets the counts of a plan that is about to be made. */
export async function forgetCounts(tx: Tx, provider: string): Promise<void> {
  await tx.deleteFrom('kv').where('key', '=', keyOf(provider)).execute();
}

/** Changes rows of these records, and the counts with them. The plan must be locked. */
export async function withCounts<T>(
  tx: Tx,
  { provider, ids, now }: { readonly provider: string; readonly ids: readonly string[]; readonly now: number },
  change: () => Promise<T>,
): Promise<T> {
  const kept = await readKept(tx, provider);
  if (kept === undefined) return change();
  const these = () => countIn(tx, provider).where('record_id', 'in', each(tx, ids)).executeTakeFirstOrThrow();
  const before = await these();
  const result = await change();
  const after = await these();
  const counts = NAMES.map((name) => [name, (kept[name] ?? 0) + (after[name] ?? 0) - (before[name] ?? 0)]);
  await writeKept(tx, provider, Object.fromEntries(counts), now);
  return result;
}

/** Counts the plans again whose counts are kept: for what takes rows out of them by itself. */
export async function recountPlans({ db, write }: Store, now: () => number): Promise<void> {
  const rows = await db.selectFrom('kv').select('key').where('key', 'like', keyOf('%')).execute();
  for (const { key } of rows) {
    const provider = key.slice('backfill:'.length, -':counts'.length);
    await write(async (tx) => {
      await lockRun(tx, provider);
      if ((await readKept(tx, provider)) !== undefined)
        await writeKept(tx, provider, await countRows(tx, provider), now());
    });
  }
}

/** Counts by name: each verdict, the rows to be linked of each, and the others. */
type Counted = Readonly<Record<string, number>>;

async function readKept(db: Db, provider: string): Promise<Counted | undefined> {
  const text = await readValue(db, keyOf(provider));
  return text === undefined ? undefined : JSON.parse(text);
}

const writeKept = (tx: Tx, provider: string, counts: Counted, now: number): Promise<void> =>
  writeValue(tx, keyOf(provider), JSON.stringify(counts), now);

const IS_TO_LINK = sql<boolean>`(action = 'link' and state = 'planned')`;

/** What is counted: the condition of each name. */
const CONDITIONS: Readonly<Record<string, RawBuilder<unknown>>> = {
  ...Object.fromEntries(VERDICTS.map((verdict) => [verdict, sql`verdict = ${sql.lit(verdict)}`])),
  ...Object.fromEntries(
    VERDICTS.map((verdict) => [`link ${verdict}`, sql`(verdict = ${sql.lit(verdict)} and ${IS_TO_LINK})`]),
  ),
  toLink: IS_TO_LINK,
  linkedRows: sql`action = 'link' and state = 'done'`,
  failedRows: sql`state = 'failed'`,
  personRows: NEEDS_PERSON,
  mistyped: sql`verdict = 'matched' and detail = ${MISTYPED}`,
  unsure: sql`action <> 'link' and ${IS_UNSURE}`,
};
const NAMES = Object.keys(CONDITIONS);

function countsOf(counted: Counted): ScanCounts {
  const of = (name: string): number => counted[name] ?? 0;
  const byVerdict = (prefix: string): ByVerdict =>
    Object.fromEntries(VERDICTS.flatMap((one) => (of(prefix + one) > 0 ? [[one, of(prefix + one)]] : [])));
  return {
    verdicts: byVerdict(''),
    toLink: of('toLink'),
    linkable: byVerdict('link '),
    linked: of('linkedRows'),
    failed: of('failedRows'),
    person: of('personRows'),
    mistyped: of('mistyped'),
    unsure: of('unsure'),
  };
}

/** Reads every row of the connection, page by page. */
async function countRows(db: Db, provider: string): Promise<Counted> {
  const total = new Map<string, number>();
  await inPositions(db, provider, async (from, to) => {
    const counted = await countIn(db, provider)
      .where('position', '>', from)
      .where('position', '<=', to)
      .executeTakeFirstOrThrow();
    for (const name of NAMES) total.set(name, (total.get(name) ?? 0) + (counted[name] ?? 0));
  });
  return Object.fromEntries(total);
}

/** By sums and not by groups, which an engine would sort: memory for each row. */
const countIn = (db: Db, provider: string) =>
  db
    .selectFrom('scan')
    .select(Object.entries(CONDITIONS).map(([name, condition]) => countWhere(condition).as(name)))
    .where('provider', '=', provider)
    .where('purpose', '=', PURPOSE);

/** Reads the rows of a connection in ranges of their positions: after `from`, up to `to`. */
export async function inPositions(
  db: Db,
  provider: string,
  read: (from: number, to: number) => Promise<void>,
): Promise<void> {
  const last = await lastPosition(db, provider);
  await inPages(-1, async (from) => {
    const to = from + ROWS_AT_ONCE;
    await read(from, to);
    return to < last ? to : undefined;
  });
}

/** The position of the last row of a connection; 0 if there is none. */
export async function lastPosition(db: Db, provider: string): Promise<number> {
  const { last } = await db
    .selectFrom('scan')
    .select(({ fn }) => fn.max('position').as('last'))
    .where('provider', '=', provider)
    .where('purpose', '=', PURPOSE)
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

/** How many rows a condition holds for, without a sort. */
export const countWhere = (condition: RawBuilder<unknown>): RawBuilder<number> =>
  sql<number>`cast(coalesce(sum(case when ${condition} then 1 else 0 end), 0) as bigint)`;
