/** Edits of a stored plan by people on pages: a row at a time, and never over what somebody else changed meanwhile. */
import { sql } from 'kysely';
import { parseEntityId } from '../../../protocol/entity-id.ts';
import { type AuditActor, recordAudit } from '../../../runtime/operators/audit.ts';
import { readErasures } from '../../../store/erasure/erasures.ts';
import type { Tx } from '../../../store/store.ts';
import { verdictOf } from '../../follow/verdict.ts';
import { revisionOf } from '../../names/revision.ts';
import { withCounts } from '../rows/counts.ts';
import { type BackfillProgress, lockRun, putRun } from '../rows/progress.ts';
import { type PlanRow, rowsById, type ScanRow } from '../rows/scan-rows.ts';
import { readOpenBackfill } from './backfill-task.ts';
import type { PlanLine } from './read-plan.ts';
import { answersOf, rowOfLine } from './row-of-line.ts';
import { rememberSkips } from './skipped.ts';

/** What a person would have of a row: the company that it is to be linked to, or null to skip it. */
export interface RowEdit {
  readonly provider: string;
  readonly recordId: string;
  /** The row as the person saw it, by {@link rowRevision}. */
  readonly revision: string;
  readonly entity: string | null;
  readonly actor: AuditActor;
}

/**
 * `stale`: it is another row by now; `busy`: a scan or an apply goes on, or no plan is there to be edited; `erased`: the
 * company was erased.
 */
export type RowEditResult = 'done' | 'missing' | 'stale' | 'busy' | 'erased';

/** What a person sees of a row, to tell whether it is still that. */
export const rowRevision = ({ found, entity, verdict, action, state, version }: PlanRow): string =>
  revisionOf(JSON.stringify([found, entity, verdict, action, state, version]));

/** Whether a plan may be edited on pages if nothing of it goes on. */
export const isEditable = (run: BackfillProgress): boolean => run.phase === 'planned' || run.phase === 'done';

/** Whether the plan linked the row: an edit would not unlink it. */
export const isLinked = ({ action, state }: ScanRow): boolean => action === 'link' && state === 'done';

/** What an edit makes of a plan: its rows no longer follow a file, and whoever saw it before saw another one. */
export const editedPlan = ({ edits = 0 }: BackfillProgress) =>
  ({ phase: 'planned', applied: 0, edits: edits + 1, file: undefined }) as const;

/** Has a row linked or skipped, and remembers that as a plan file would. What is so already stays as it is. */
export async function editRow(tx: Tx, edit: RowEdit, now: number): Promise<RowEditResult> {
  const { provider, recordId, entity, actor } = edit;
  const run = await lockRun(tx, provider);
  const [row] = await rowsById(tx, provider, [recordId]);
  if (run === undefined || row === undefined) return 'missing';
  if (!isEditable(run) || (await readOpenBackfill(tx, provider)) !== undefined) return 'busy';
  // A form that was sent twice.
  if (row.state === 'planned' && isAs(row, entity)) return 'done';
  if (rowRevision(row) !== edit.revision || isLinked(row)) return 'stale';
  if (entity !== null && (await readErasures(tx)).has(entity)) return 'erased';
  const line = lineOf(recordId, entity);
  const { skips, links } = answersOf([line], new Map([[recordId, row]]));
  await rememberSkips(tx, provider, skips, links);
  await withCounts(tx, { provider, ids: [recordId], now }, () =>
    storeRow(tx, provider, entity === null ? skipped(row) : rowOfLine(row, line)),
  );
  await putRun(tx, provider, { ...run, ...editedPlan(run) }, now);
  const detail = { before: chosenIn(row), after: entity };
  const entry = { actor, via: 'page', action: 'backfill.edit', subject: `${provider}:${recordId}`, detail } as const;
  await recordAudit(tx, { ...entry, result: 'done' }, now);
  return 'done';
}

const chosenIn = ({ action, entity }: ScanRow): string | null => (action === 'link' ? entity : null);

const isAs = (row: ScanRow, entity: string | null): boolean => chosenIn(row) === entity;

export const lineOf = (recordId: string, entity: string | null): PlanLine => ({
  line: 1,
  recordId,
  entity: entity ?? undefined,
  number: (entity === null ? undefined : parseEntityId(entity)?.number) ?? '',
  action: entity === null ? 'skip' : 'link',
  scanned: undefined,
});

/** Skipped: with its own number again, where a person had given it another one. */
export function skipped(row: ScanRow): ScanRow {
  const own = verdictOf(row.found, false);
  const isTheirs = row.entity !== null && row.entity !== own.entity;
  return { ...row, action: 'skip', state: 'planned', ...(isTheirs && { entity: own.entity, detail: own.detail }) };
}

async function storeRow(tx: Tx, provider: string, row: ScanRow): Promise<void> {
  const { action, entity, state, detail } = row;
  await tx
    .updateTable('scan')
    .set({ action, entity, state, detail, version: sql`version + 1` })
    .where('provider', '=', provider)
    .where('purpose', '=', 'backfill')
    .where('record_id', '=', row.record_id)
    .execute();
}
