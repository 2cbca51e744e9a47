/** What applying a plan would do, and what speaks against it: read beside the scan, without a call to the CRM. */
import { parseEntityId } from '../../protocol/entity-id.ts';
import type { Db } from '../../store/store.ts';
import { UNSURE } from '../follow/verdict.ts';
import type { BackfillPreview } from './plan/backfill-task.ts';
import { openWarnings } from './plan/doubts.ts';
import { listRows } from './plan/list-rows.ts';
import { movedNumbers, ownOf } from './plan/moved-numbers.ts';
import type { PlanLine } from './plan/read-plan.ts';
import type { BackfillDeps } from './rows/backfill-context.ts';
import type { PlanRow } from './rows/scan-rows.ts';

const STEP = 500;

/** Reads the whole plan as a plan file is read. */
export async function previewPlan(
  db: Db,
  provider: string,
  report: BackfillDeps['report'],
  signal: AbortSignal,
): Promise<BackfillPreview> {
  const warnings = openWarnings();
  let [toLink, moved, seen] = [0, 0, 0];
  for (let after: number | undefined = 0; after !== undefined; ) {
    signal.throwIfAborted();
    const { rows, next } = await listRows(db, provider, {}, { after, limit: STEP });
    const lines = rows.map(lineOf);
    const byId = new Map(rows.map((row) => [row.record_id, row]));
    for (const [at, line] of lines.entries()) {
      const row = rows[at];
      if (row === undefined) continue;
      warnings.see(line, { verdict: row.verdict, own: ownOf(row), isUnsure: UNSURE.includes(row.detail) });
      if (line.action === 'link') toLink += 1;
    }
    moved += (await movedNumbers(db, provider, lines, byId)).length;
    seen += rows.length;
    report({ scanned: seen });
    after = next;
  }
  return { toLink, moved, warnings: warnings.counts() };
}

/** A row as a line of a plan file; what is done already is not linked again. */
function lineOf({ record_id: recordId, entity, action, state }: PlanRow, line: number): PlanLine {
  const number = (entity === null ? undefined : parseEntityId(entity)?.number) ?? '';
  const isPlanned = action === 'link' && state === 'planned';
  return {
    line,
    recordId,
    number,
    entity: entity ?? undefined,
    action: isPlanned ? 'link' : 'skip',
    scanned: undefined,
  };
}
