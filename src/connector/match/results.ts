/** The results of matching: one row for each record without a number. */
import { sql } from 'kysely';
import type { Confidence, ScoredCandidate } from '../../match/decide/confidence.ts';
import type { RecordText } from '../../match/describe/described.ts';
import { companyEntityId } from '../../protocol/entity-id.ts';
import { each, eachRow } from '../../store/each.ts';
import { readErasures, withoutErased } from '../../store/erasure/erasures.ts';
import type { Db, Tx } from '../../store/store.ts';
import type { RecordRef } from '../names/queues.ts';

/** A record and the companies that it may belong to. */
export interface MatchedRecord {
  readonly recordId: string;
  /** The position in the scan; 0 outside a scan. */
  readonly position: number;
  readonly confidence: Confidence;
  readonly record: RecordText;
  readonly candidates: readonly ScoredCandidate[];
  readonly pattern?: string;
}

/** Replaces earlier results of the same records; skips results that name an erased company. */
export async function putResults(tx: Tx, provider: string, given: readonly MatchedRecord[]): Promise<void> {
  if (given.length === 0) return;
  const erasures = await readErasures(tx);
  const isErased = (company: string | null): boolean => company !== null && erasures.has(companyEntityId(company));
  const { true: erased = [], false: results = [] } = Object.groupBy(given, ({ candidates }) =>
    candidates.some(({ company, successor }) => isErased(company) || isErased(successor)) ? 'true' : 'false',
  );
  for (const { recordId } of erased) await deleteResult(tx, provider, recordId);
  if (results.length === 0) return;
  const rows = results.map((one) => ({
    record: one.recordId,
    position: one.position,
    confidence: one.confidence,
    entity: entityOf(one) ?? null,
    body: JSON.stringify(erasures.redact(one)),
  }));
  await sql`insert into match_result (provider, record_id, position, confidence, entity, body)
    select cast(${provider} as text), each.record, cast(each.position as bigint), each.confidence, each.entity, each.body
    from ${eachRow(tx, ['record', 'position', 'confidence', 'entity', 'body'], rows)} where true
    on conflict (provider, record_id) do update set position = excluded.position, confidence = excluded.confidence,
      entity = excluded.entity, body = excluded.body`.execute(tx);
}

/** Stores results as suggestions; one that waits already keeps its time. */
export async function putSuggestions(
  tx: Tx,
  provider: string,
  results: readonly MatchedRecord[],
  now: number,
): Promise<void> {
  await putResults(tx, provider, results);
  const ids = results.map(({ recordId }) => recordId);
  await tx
    .updateTable('match_result')
    .set({ suggested_at: now })
    .where('provider', '=', provider)
    .where('record_id', 'in', each(tx, ids))
    .where('suggested_at', 'is', null)
    .execute();
}

export async function deleteSuggestions(tx: Tx, provider: string, ids: readonly string[]): Promise<void> {
  await tx
    .updateTable('match_result')
    .set({ suggested_at: null })
    .where('provider', '=', provider)
    .where('record_id', 'in', each(tx, ids))
    .where('suggested_at', 'is not', null)
    .execute();
}

const deleteResult = async (tx: Tx, provider: string, recordId: string): Promise<void> => {
  const ofProvider = tx.deleteFrom('match_result').where('provider', '=', provider);
  await ofProvider.where('record_id', '=', recordId).execute();
};

/** Removes a rejected result from the scan; it stays in case the person undoes the answer. */
export async function retireResult(tx: Tx, provider: string, recordId: string): Promise<void> {
  await tx
    .updateTable('match_result')
    .set({ entity: null, suggested_at: null, position: 0 })
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .execute();
}

export async function restoreResult(tx: Tx, provider: string, recordId: string, now: number): Promise<void> {
  const found = await readResult(tx, { provider, recordId });
  if (found === undefined) return;
  await tx
    .updateTable('match_result')
    .set({ entity: entityOf(found) ?? null, suggested_at: now })
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .execute();
}

export async function readSuggestion(db: Db, provider: string, recordId: string): Promise<MatchedRecord | undefined> {
  const row = await resultOf(db, { provider, recordId }).where('suggested_at', 'is not', null).executeTakeFirst();
  return row === undefined ? undefined : JSON.parse(row.body);
}

export async function readResult(db: Db, ref: RecordRef): Promise<MatchedRecord | undefined> {
  const row = await resultOf(db, ref).executeTakeFirst();
  return row === undefined ? undefined : JSON.parse(row.body);
}

const resultOf = (db: Db, { provider, recordId }: RecordRef) =>
  db.selectFrom('match_result').select('body').where('provider', '=', provider).where('record_id', '=', recordId);

/** Deletes the results of the last scan; suggestions stay until the new scan reaches them. */
export async function deleteScanResults(tx: Tx, provider: string): Promise<void> {
  const ofProvider = tx.deleteFrom('match_result').where('provider', '=', provider);
  await ofProvider.where('suggested_at', 'is', null).execute();
  await tx.updateTable('match_result').set({ position: 0 }).where('provider', '=', provider).execute();
}

export const entityOf = ({ candidates: [best] }: MatchedRecord): string | undefined =>
  best === undefined ? undefined : companyEntityId(best.company);

export async function resultsAfter(
  db: Db,
  provider: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly MatchedRecord[]> {
  const rows = await db
    .selectFrom('match_result')
    .select('body')
    .where('provider', '=', provider)
    .where('position', '>', after)
    .orderBy('position')
    .limit(limit)
    .execute();
  return rows.map(({ body }): MatchedRecord => JSON.parse(body));
}

export async function resultsAt(
  db: Db,
  provider: string,
  positions: readonly number[],
): Promise<readonly MatchedRecord[]> {
  const wanted = eachRow(
    db,
    ['position'],
    positions.map((position) => ({ position })),
  );
  const { rows } = await sql<{ body: string }>`select body from match_result where provider = ${provider}
    and position in (select cast(each.position as bigint) from ${wanted})`.execute(db);
  const results = new Map(rows.map(({ body }) => JSON.parse(body)).map((one: MatchedRecord) => [one.position, one]));
  return positions.flatMap((position) => results.get(position) ?? []);
}

/** Random results. Reads the keys of all. */
export async function sampleResults(db: Db, provider: string, count: number): Promise<readonly MatchedRecord[]> {
  if (count === 0) return [];
  const rows = await sql<{ body: string }>`select body from match_result where provider = ${provider} and record_id in
    (select record_id from match_result where provider = ${provider} and position > 0 order by random() limit ${count})
    order by position`.execute(db);
  return rows.rows.map(({ body }): MatchedRecord => JSON.parse(body));
}

export async function countByConfidence(
  db: Db,
  provider: string,
): Promise<Readonly<Partial<Record<Confidence, number>>>> {
  const rows = await db
    .selectFrom('match_result')
    .select(({ fn }) => ['confidence', sql<number>`cast(${fn.countAll()} as bigint)`.as('count')])
    .where('provider', '=', provider)
    .where('position', '>', 0)
    .groupBy('confidence')
    .execute();
  return Object.fromEntries(rows.map(({ confidence, count }) => [confidence, count]));
}

export async function sharedEntities(
  db: Db,
  provider: string,
  entities: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('match_result')
    .select('entity')
    .where('provider', '=', provider)
    .where('entity', 'in', each(db, entities))
    .groupBy('entity')
    .having(({ fn }) => fn.countAll(), '>', 1)
    .execute();
  return new Set(rows.flatMap(({ entity }) => entity ?? []));
}

/**
 * Stores rejections, so that no match proposes them again; erased companies are never proposed. Returns the new ones.
 */
export async function storeRejections(
  tx: Tx,
  provider: string,
  given: readonly { readonly record: string; readonly entity: string }[],
): Promise<readonly { readonly recordId: string; readonly entity: string }[]> {
  const rejected = await withoutErased(tx, given, ({ entity }) => entity);
  if (rejected.length === 0) return [];
  const { rows } = await sql<{
    recordId: string;
    entity: string;
  }>`insert into match_rejection (provider, record_id, entity)
    select cast(${provider} as text), each.record, each.entity from ${eachRow(
      tx,
      ['record', 'entity'],
      rejected.map((one) => ({ ...one })),
    )} where true on conflict do nothing returning record_id as "recordId", entity`.execute(tx);
  return rows;
}

export async function readRejections(
  db: Db,
  provider: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const rows = await db
    .selectFrom('match_rejection')
    .select(['record_id', 'entity'])
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .execute();
  const grouped = Map.groupBy(rows, (row) => row.record_id);
  return new Map([...grouped].map(([id, of]) => [id, new Set(of.map(({ entity }) => entity))]));
}
