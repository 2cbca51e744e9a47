/** What the connector counts for charts: properties by what became of them, webhooks, and the state of linked records. */
import { sql } from 'kysely';
import { addActivity } from '../runtime/activity/activity.ts';
import { type CountedTable, countNewRows } from '../runtime/activity/count-activity.ts';
import type { TaskDeps } from '../runtime/housekeeping/periodic-tasks.ts';
import { inPages, ROWS_AT_ONCE } from '../store/count.ts';
import { elements } from '../store/each.ts';
import type { Db } from '../store/store.ts';

/** Properties, not rows: a row of history holds all that one rule decided for one event. */
const DECISIONS: CountedTable = {
  table: 'history',
  key: 'id',
  at: 'at',
  kind: sql`case when lines is null then null when outcome = 'written' and rule = 'undo' and seq = 0 then 'undone'
    when outcome in ('written', 'kept', 'refused') then outcome end`,
  subject: sql`provider`,
  count: (tx) => sql`(select count(*) from ${elements(tx, 'lines')})`,
};

const WEBHOOKS: CountedTable = {
  table: 'receipt',
  key: 'seq',
  at: 'received_at',
  kind: sql`'received'`,
  subject: sql`''`,
  count: () => sql`1`,
};

/** Counts what was decided and received since the last time. */
export async function countDecisions({ store, now }: TaskDeps, signal: AbortSignal): Promise<void> {
  for (const table of [DECISIONS, WEBHOOKS]) await countNewRows(store, table, now(), signal);
}

/** The linked records of one connection; each stands in one of the other counts at most. */
interface RecordStates {
  readonly linked: number;
  /** The CRM refuses a value, or the record cannot be synced. */
  readonly failing: number;
  /** A person holds the record or one of its properties. */
  readonly left: number;
  /** The CRM holds a value of a person that is not the register's. */
  readonly differing: number;
}

/** Counts the records of every connection by their state, and keeps the counts for the charts. */
export async function countRecordStates({ store, now }: TaskDeps, signal: AbortSignal): Promise<void> {
  const providers = await store.db.selectFrom('link').select('provider').distinct().execute();
  for (const { provider } of providers) {
    if (signal.aborted) return;
    const states = await readRecordStates(store.db, provider, now());
    const at = now();
    const rows = (['linked', 'failing', 'left', 'differing'] as const).map((kind) => ({
      ...{ at, kind, subject: provider, count: states[kind] },
    }));
    await store.write((tx) => addActivity(tx, rows, 'replace'));
  }
}

/** Reads the states of all linked records of a connection, 5,000 at once: 15 ms each, with a turn for others between. */
async function readRecordStates(db: Db, provider: string, now: number): Promise<RecordStates> {
  const sum = { linked: 0, failing: 0, left: 0, differing: 0 };
  await inPages('', async (after) => {
    const page = await readPage(db, { provider, after, now });
    for (const kind of ['linked', 'failing', 'left', 'differing'] as const) sum[kind] += page[kind];
    return page.read < ROWS_AT_ONCE ? undefined : page.last;
  });
  return sum;
}

async function readPage(
  db: Db,
  { provider, after, now }: { readonly provider: string; readonly after: string; readonly now: number },
): Promise<RecordStates & { readonly read: number; readonly last: string }> {
  const ofRecord = sql`provider = ${provider} and record_id = page.record_id`;
  // A step of its own: otherwise engines look up each condition again for each sum that names it.
  const { rows } = await sql<Record<keyof RecordStates | 'read', number> & { readonly last: string | null }>`
    with decided as materialized (select record_id, state = 'active' as active,
        exists (select 1 from property_state where ${ofRecord} and refused is not null)
          or exists (select 1 from lane where queue = ${`sync:${provider}`} and key = page.record_id and error is not null)
          as failing,
        exists (select 1 from override where ${ofRecord} and kind = 'hold' and (until is null or until > ${now})) as held,
        exists (select 1 from property_state where ${ofRecord} and kept is not null) as differing
      from (select record_id, state from link where provider = ${provider} and record_id > ${after}
        order by record_id limit ${sql.lit(ROWS_AT_ONCE)}) as page)
    select ${count(sql`true`)} as read, ${count(sql`active`)} as linked, max(record_id) as last,
      ${count(sql`active and failing`)} as failing, ${count(sql`active and not failing and held`)} as "left",
      ${count(sql`active and not failing and not held and differing`)} as differing
    from decided`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('a count without a row');
  return { ...row, last: row.last ?? after };
}

const count = (condition: ReturnType<typeof sql>) =>
  sql`cast(coalesce(sum(case when ${condition} then 1 else 0 end), 0) as bigint)`;
