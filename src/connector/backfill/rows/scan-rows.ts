/** The rows of a backfill: a record each, as the scan saw it, with its verdict and what is to become of it. */
import { type RawBuilder, sql } from 'kysely';
import { each, eachRow } from '../../../store/each.ts';
import { readErasures, withoutErased } from '../../../store/erasure/erasures.ts';
import type { ScanTable } from '../../../store/schema.ts';
import type { Db, Tx } from '../../../store/store.ts';
import { type Action, FOR_A_PERSON, UNSURE, type Verdict } from '../../follow/verdict.ts';

/** A record of a scan, with what is to become of it. */
export type ScanRow = Omit<ScanTable, 'provider' | 'purpose' | 'version'>;

/** A row as it is stored. */
export type PlanRow = ScanRow & {
  /** How often people edited it on a page. */
  readonly version: number;
};

export const PURPOSE = 'backfill';

/** Adds rows, or brings those that are there up to date but for their position. Record ids are distinct. */
export const putRows = (tx: Tx, provider: string, rows: readonly ScanRow[]): Promise<void> =>
  upsert(tx, provider, rows, sql`position = scan.position`);

/** Writes back rows that exist, with their positions. */
export const updateRows = (tx: Tx, provider: string, rows: readonly ScanRow[]): Promise<void> =>
  upsert(tx, provider, rows, sql`position = excluded.position`);

/**
 * A row that names an erased company leaves the scan, as an erasure takes it out. By the key, whatever the engine makes of a
 * join: it might read every row of the scan for each of these.
 */
async function upsert(
  tx: Tx,
  provider: string,
  given: readonly ScanRow[],
  position: RawBuilder<unknown>,
): Promise<void> {
  const rows = await withoutErased(tx, given, ({ entity }) => entity);
  const kept = new Set(rows);
  const erased = given.filter((row) => !kept.has(row)).map((row) => row.record_id);
  if (erased.length > 0) await deleteRows(tx, provider, erased);
  if (rows.length === 0) return;
  const { redact } = await readErasures(tx);
  await sql`insert into scan
      (provider, purpose, record_id, position, name, found, entity, verdict, action, state, detail)
    select cast(${provider} as text), ${sql.lit(PURPOSE)}, each.record_id, cast(each.position as bigint),
      each.name, each.found, each.entity, each.verdict, each.action, each.state, each.detail
    from ${eachRow(
      tx,
      ['record_id', 'position', 'name', 'found', 'entity', 'verdict', 'action', 'state', 'detail'],
      rows.map((row) => ({ ...row, name: redact(row.name), found: redact(row.found), detail: redact(row.detail) })),
    )} where true
    on conflict (provider, purpose, record_id) do update set ${position}, name = excluded.name,
      found = excluded.found, entity = excluded.entity, verdict = excluded.verdict, action = excluded.action,
      state = excluded.state, detail = excluded.detail`.execute(tx);
}

async function deleteRows(tx: Tx, provider: string, ids: readonly string[]): Promise<void> {
  const ofProvider = tx.deleteFrom('scan').where('provider', '=', provider).where('purpose', '=', PURPOSE);
  await ofProvider.where('record_id', 'in', each(tx, ids)).execute();
}

/** The rows of a connection's backfill. */
export const rowsOf = (db: Db, provider: string) =>
  db
    .selectFrom('scan')
    .select(['record_id', 'position', 'name', 'found', 'entity', 'verdict', 'action', 'state', 'detail', 'version'])
    .where('provider', '=', provider)
    .where('purpose', '=', PURPOSE);

export interface PageOf {
  /** The position of the last row before. */
  readonly after: number;
  readonly limit: number;
  readonly action?: Action;
  readonly verdict?: Verdict;
}

/** The next rows in the order of the scan that are not done. */
export async function plannedRows(
  db: Db,
  provider: string,
  { after, limit, action, verdict }: PageOf,
): Promise<readonly ScanRow[]> {
  return rowsOf(db, provider)
    .where('state', '=', 'planned')
    .where('position', '>', after)
    .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
    .$if(verdict !== undefined, (query) => query.where('verdict', '=', verdict ?? ''))
    .orderBy('position')
    .limit(limit)
    .execute();
}

/** The rows of these records, in no order. */
export async function rowsById(db: Db, provider: string, ids: readonly string[]): Promise<readonly PlanRow[]> {
  return rowsOf(db, provider).where('record_id', 'in', each(db, ids)).execute();
}

/** The rows of these companies, in no order: by the number a record holds, or by that of a plan file. */
export async function rowsByEntity(db: Db, provider: string, entities: readonly string[]): Promise<readonly ScanRow[]> {
  return rowsOf(db, provider).where('entity', 'in', each(db, entities)).execute();
}

/** Matched by a number that may be another company's. */
export const IS_UNSURE = sql<boolean>`(verdict = 'matched' and detail in (${sql.join(UNSURE)}))`;

/** Rows that a person should look at. As they are counted: what a person decided in a plan is linked, whatever the scan thought of it. */
export const NEEDS_PERSON = sql<boolean>`(state = 'failed' or (action <> 'link'
  and (verdict in (${sql.join(FOR_A_PERSON.map((one) => sql.lit(one)))}) or ${IS_UNSURE})))`;

/** Some rows that a person should look at, or some that are to be linked: for a first impression. */
export async function sampleRows(
  db: Db,
  provider: string,
  of: 'person' | 'link',
  limit: number,
): Promise<readonly ScanRow[]> {
  return rowsOf(db, provider)
    .$if(of === 'link', (query) => query.where('action', '=', 'link'))
    .$if(of === 'person', (query) => query.where(NEEDS_PERSON))
    .orderBy('position')
    .limit(limit)
    .execute();
}

/** Back to how the scan left them, with nothing to be done, for the rows between two positions. */
export async function resetActions(tx: Tx, provider: string, from: number, to: number): Promise<void> {
  await tx
    .updateTable('scan')
    .set({ action: 'skip', state: 'planned' })
    .where('provider', '=', provider)
    .where('purpose', '=', PURPOSE)
    .where('state', 'in', ['planned', 'done', 'failed'])
    .where('position', '>', from)
    .where('position', '<=', to)
    .execute();
}
