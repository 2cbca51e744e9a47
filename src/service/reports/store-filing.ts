/** Stores filings and their content, and selects those to retry. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { companyEntityId } from '../../protocol/entity-id.ts';
import type { ReportData } from '../../protocol/report.ts';
import { countRows } from '../../store/count.ts';
import { each, storable } from '../../store/each.ts';
import { readErasures } from '../../store/erasure/erasures.ts';
import { type Db, engineOf, type Tx } from '../../store/store.ts';
import type { Change } from '../changes/change.ts';
import { formerOf, isNews } from './choose.ts';
import { newReportOf } from './deprecated.ts';
import type { Filing } from './filings.ts';

export type FilingOutcome =
  | { readonly kind: 'read'; readonly data: ReportData; readonly error: string | null }
  | {
      readonly kind: 'later';
      readonly error: string;
      /** False if cvrsync postponed it without an attempt. */
      readonly counts: boolean;
      /** Null if only a person can retry it. */
      readonly retryAt: number | null;
      readonly record: unknown;
    };

/** Figures of years that ended longer before a new year are deleted. */
const KEPT_MS = 300 * 86_400_000;

/** The ids that were read or wait for a retry. */
export async function knownFilings(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('filing').select('id').where('id', 'in', each(db, ids)).execute();
  return new Set(rows.map(({ id }) => id));
}

/** Filings due for a retry, the longest waiting first. */
export function dueFilings(
  db: Db,
  now: number,
  limit: number,
): Promise<{ id: string; attempts: number; record: string | null }[]> {
  return db
    .selectFrom('filing')
    .select(['id', 'attempts', 'record'])
    .where('retry_at', '<=', now)
    .orderBy('retry_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** The number of filings to retry, up to a limit. */
export const countDueFilings = (db: Db, limit: number): Promise<number> =>
  countRows(db, db.selectFrom('filing').select('id').where('retry_at', 'is not', null).limit(limit));

export async function retryFilings(tx: Tx, ids: readonly string[], now: number): Promise<void> {
  await tx
    .updateTable('filing')
    .set({ retry_at: now })
    .where('id', 'in', each(tx, ids))
    .where('record', 'is not', null)
    .execute();
}

export async function formerReport(db: Db, filing: Filing, start: string | null): Promise<ReportData | undefined> {
  const former = formerOf(
    start,
    (await rowsOf(db, filing)).filter(({ read }) => read),
  );
  if (former === undefined) return undefined;
  const row = await db.selectFrom('filing').select('data').where('id', '=', former.id).executeTakeFirst();
  return readData(row?.data ?? null);
}

async function rowsOf(db: Db, { cvr }: Filing) {
  const type =
    engineOf(db) === 'postgres'
      ? sql<string | null>`cast(data as jsonb) ->> 'reportType'`
      : sql<string | null>`data ->> '$.reportType'`;
  const rows = await db
    .selectFrom('filing')
    .select(['id', 'period_start', 'period_end', 'published_at', type.as('type')])
    .where('entity', '=', companyEntityId(String(cvr)))
    .execute();
  return rows.map(({ type, ...row }) => ({ ...row, read: type !== null, isAnnual: type === 'Yearly' }));
}

/** Stores the outcome and returns the change if the filing is news. Publish the change in the same transaction. */
export async function storeFiling(
  tx: Tx,
  filing: Filing,
  outcome: FilingOutcome,
  options: { readonly now: number; readonly deprecatedReport: boolean },
): Promise<Change | undefined> {
  const isRead = outcome.kind === 'read';
  const period = isRead ? outcome.data.period : undefined;
  const entity = companyEntityId(String(filing.cvr));
  const erasures = await readErasures(tx);
  if (erasures.has(entity)) return undefined;
  const attempts = isRead || !outcome.counts ? 0 : 1;
  const known = await rowsOf(tx, filing);
  const state = {
    entity,
    period_start: period?.from?.slice(0, 10) ?? filing.period?.start ?? null,
    period_end: period?.to?.slice(0, 10) ?? filing.period?.end ?? null,
    published_at: filing.publishedAt,
    data: isRead ? storable(JSON.stringify(erasures.redact(outcome.data))) : null,
    error: outcome.error === null ? null : storable(outcome.error).slice(0, 1_000),
    retry_at: isRead ? null : outcome.retryAt,
    record: isRead ? null : storable(JSON.stringify(erasures.redact(outcome.record))),
  };
  await tx
    .insertInto('filing')
    .values({ id: filing.id, ...state, attempts })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({ ...state, attempts: eb('filing.attempts', '+', attempts) })),
    )
    .execute();
  if (!isRead) return undefined;
  await forgetFigures(tx, entity, state.period_start);
  if (!isNews(filing, outcome.data, known)) return undefined;
  const name = outcome.data.reportingCompanyName?.value ?? (await nameOf(tx, entity)) ?? entity;
  return changeOf(filing, outcome.data, name, options.deprecatedReport);
}

/** Deletes old figures, about 20 KB per company: only next year's report is compared with them. */
async function forgetFigures(tx: Tx, entity: string, start: string | null): Promise<void> {
  const ms = Date.parse(start ?? '');
  if (Number.isNaN(ms)) return;
  await tx
    .updateTable('filing')
    .set({ data: null })
    .where('entity', '=', entity)
    .where('period_end', '<', new Date(ms - KEPT_MS).toISOString().slice(0, 10))
    .execute();
}

/** The newest annual report of each company: by end of its year, then by publication. */
export async function latestReports(db: Db, entities: readonly string[]): Promise<ReadonlyMap<string, ReportData>> {
  const rows = await db
    .selectFrom('filing')
    .select(['entity', 'data'])
    .where('entity', 'in', each(db, entities))
    .where('data', 'is not', null)
    // Its year is unknown, and the engines sort null to different ends.
    .where('period_end', 'is not', null)
    .orderBy('period_end')
    .orderBy('published_at')
    .execute();
  const reports = rows.map(({ entity, data }) => [entity, readData(data)] as const);
  return new Map(reports.filter((pair): pair is [string, ReportData] => pair[1]?.reportType === 'Yearly'));
}

/** Only this file writes it. */
const readData = (data: string | null): ReportData | undefined =>
  data === null ? undefined : (JSON.parse(data) as ReportData);

/** Stores a record that is not a filing, so that no poll reads it again. */
export async function quarantineFiling(tx: Tx, id: string, reason: string): Promise<void> {
  const row = { id: storable(id), entity: '', published_at: '', error: storable(reason), attempts: 0 };
  await tx
    .insertInto('filing')
    .values({ ...row, period_start: null, period_end: null, data: null, retry_at: null, record: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

async function nameOf(tx: Tx, entity: string): Promise<string | undefined> {
  const row = await tx.selectFrom('snapshot').select('body').where('entity', '=', entity).executeTakeFirst();
  const snapshot: unknown = row === undefined ? undefined : JSON.parse(row.body);
  const name = typeof snapshot === 'object' && snapshot !== null && 'name' in snapshot ? snapshot.name : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** The index's id is permanent: cvrsync publishes a filing once, whatever it later reads in it. */
function changeOf(filing: Filing, data: ReportData, name: string, isDeprecatedToo: boolean): Change {
  const entity = companyEntityId(String(filing.cvr));
  const id = createHash('sha256').update(`report ${entity} ${filing.id}`).digest('base64url');
  const updates = { newReport: newReportOf(data, isDeprecatedToo) };
  return { id, entity, name, kind: 'report', timestamp: filing.publishedAt, updates };
}
