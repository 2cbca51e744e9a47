/** Compares the three lists: differences and doubts. Changes only the scan. */
import { sql } from 'kysely';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db } from '../../store/store.ts';
import { readRun } from '../backfill/rows/progress.ts';
import { type ReconcileContext, writeHeld } from './context.ts';
import { countOf, DIFFERENCES, type DifferenceKind, KINDS, type ReconcileScope } from './differences.ts';
import { readItems } from './items.ts';
import { type Implausibility, implausibilitiesOf, type KnownNumbers } from './plausibility.ts';
import { forgetLists, readRecords } from './records.ts';

export interface Survey {
  readonly scope: ReconcileScope;
  readonly records: number;
  readonly links: number;
  /** Recently changed links, left to the next time. */
  readonly young: number;
  readonly items: number | undefined;
  readonly counts: Readonly<Record<DifferenceKind, number>>;
  readonly doubts: readonly Implausibility[];
}

/** Clocks of machines differ, and a list may lag: such a recent link is left to the next time. */
const YOUNG_MS = 60_000;
/** A backfill without progress for this long is not running. */
const STILL_MS = 10 * 60_000;

/** Reads both lists and compares them with the links. Throws if a list is incomplete. */
export async function survey(context: ReconcileContext, signal: AbortSignal): Promise<Survey> {
  const { store, crm, upstream, now } = context;
  const before = now() - YOUNG_MS;
  await forgetLists(context);
  const items = upstream === undefined ? undefined : await readItems(context, upstream, signal);
  const records = await readRecords(context, signal);
  await analyzeTables(store);
  const scope: ReconcileScope = {
    provider: crm.name,
    before,
    autoLink: crm.autoLink && records.numbers,
    backfilling: await isBackfilling(store.db, crm.name, now()),
  };
  const counts = await countAll(store.db, scope, items !== undefined);
  const known = await readKnown(context, scope);
  const last = await readLast(store.db, crm.name);
  const doubts = implausibilitiesOf({
    ...known,
    provider: crm.name,
    records: { now: records.count, last: last?.records },
    numbers: {
      ...known.numbers,
      differ: counts.number,
      unreadable: records.numbers || known.numbers.all === 0 ? undefined : crm.match,
    },
    items: items && { now: items.count, last: last?.items },
    deletions: counts.undesired + counts.leftover + counts.stranger,
  });
  const young = await countYoung(store.db, scope);
  return { scope, records: records.count, links: known.links.all, young, items: items?.count, counts, doubts };
}

async function countAll(db: Db, scope: ReconcileScope, service: boolean): Promise<Record<DifferenceKind, number>> {
  const counts: Partial<Record<DifferenceKind, number>> = {};
  for (const kind of KINDS) {
    counts[kind] = service || !('service' in DIFFERENCES[kind]) ? await countOf(db, kind, scope) : 0;
    // SQLite runs on the main thread: lets waiting requests go first.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return Object.assign({}, ...KINDS.map((kind) => ({ [kind]: counts[kind] ?? 0 })));
}

/** Without fresh statistics, PostgreSQL takes newly filled tables for empty, and compares every row with every row. */
async function analyzeTables({ db, engine }: ReconcileContext['store']): Promise<void> {
  if (engine !== 'postgres') return;
  for (const table of ['scan', 'scan_item', 'link', 'lane']) await sql`analyze ${sql.table(table)}`.execute(db);
}

async function isBackfilling(db: Db, provider: string, now: number): Promise<boolean> {
  const run = await readRun(db, provider);
  if (run === undefined || run.phase === 'done' || run.phase === 'planned') return false;
  const row = await db
    .selectFrom('kv')
    .select('updated_at')
    .where('key', '=', `backfill:${provider}`)
    .executeTakeFirst();
  return row !== undefined && now - row.updated_at < STILL_MS;
}

async function readKnown(
  { store }: ReconcileContext,
  { provider, before }: ReconcileScope,
): Promise<Pick<KnownNumbers, 'links' | 'confirmed'> & { numbers: { all: number } }> {
  const total = (condition: ReturnType<typeof sql>) =>
    sql`cast(coalesce(sum(case when ${condition} then 1 else 0 end), 0) as bigint)`;
  const seen = sql`c.record_id is not null`;
  const confirmed = sql`l.desired = 'on' and l.observed = 'on'`;
  const { rows } = await sql<Record<'linked' | 'seen' | 'confirmed' | 'listed' | 'numbered', number>>`
    select cast(count(*) as bigint) as linked, ${total(seen)} as seen, ${total(confirmed)} as confirmed,
      ${total(sql`${confirmed} and i.record_id is not null`)} as listed,
      ${total(sql`l.origin = 'number' and ${seen}`)} as numbered
    from link l
    left join scan c on c.provider = l.provider and c.purpose = 'reconcile' and c.record_id = l.record_id
    left join scan_item i on i.provider = l.provider and i.entity = l.entity and i.record_id = l.record_id
    where l.provider = ${provider} and l.state = 'active' and l.updated_at < ${before}`.execute(store.db);
  const row = rows[0] ?? { linked: 0, seen: 0, confirmed: 0, listed: 0, numbered: 0 };
  return {
    links: { all: row.linked, seen: row.seen },
    confirmed: { all: row.confirmed, seen: row.listed },
    numbers: { all: row.numbered },
  };
}

async function countYoung(db: Db, { provider, before }: ReconcileScope): Promise<number> {
  const { count } = await db
    .selectFrom('link')
    .select((at) => at.fn.countAll<number>().as('count'))
    .where('provider', '=', provider)
    .where('state', '=', 'active')
    .where('updated_at', '>=', before)
    .executeTakeFirstOrThrow();
  return count;
}

interface ListSizes {
  readonly records: number;
  readonly items: number | undefined;
}

const sizesKey = (provider: string): string => `reconcile:${provider}`;

async function readLast(db: Db, provider: string): Promise<ListSizes | undefined> {
  const text = await readValue(db, sizesKey(provider));
  return text === undefined ? undefined : JSON.parse(text);
}

/** Stores the sizes of the lists for the next time; call it only for plausible lists. */
export async function rememberSizes(context: ReconcileContext, { records, items }: Survey): Promise<void> {
  const value = JSON.stringify({ records, items } satisfies ListSizes);
  await writeHeld(context, (tx) => writeValue(tx, sizesKey(context.crm.name), value, context.now()));
}
