/**
 * moved-numbers: lines of a plan file that give a record the number of another one, and not that of its own. One or two are
 * a person's correction; many are a column that a spreadsheet sorted or moved without the others.
 */

import type { CsvProblem } from '../../../runtime/files/csv-rows.ts';
import type { Db } from '../../../store/store.ts';
import { verdictOf } from '../../follow/verdict.ts';
import { rowsByEntity, type ScanRow } from '../rows/scan-rows.ts';
import type { PlanLine } from './read-plan.ts';

/** Up to FEW moved numbers, or one in ONE_IN of the lines that link, may be corrections. */
const FEW = 5;
const ONE_IN = 50;

/** Whether there are too many such lines to be corrections. */
export const isTooMany = (moved: number, toLink: number): boolean => moved > FEW && moved > toLink / ONE_IN;

/** The lines of a page whose number another record holds, while their own record holds the number of another company. */
export async function movedNumbers(
  db: Db,
  provider: string,
  page: readonly PlanLine[],
  rows: ReadonlyMap<string, ScanRow>,
): Promise<readonly CsvProblem[]> {
  const changed = page.flatMap(({ line, recordId, action, entity, number }) => {
    const own = ownOf(rows.get(recordId));
    const isOther = action === 'link' && entity !== undefined && own !== null && own !== entity;
    return isOther ? { line, recordId, entity, number } : [];
  });
  if (changed.length === 0) return [];
  const entities = [...new Set(changed.map(({ entity }) => entity))];
  const holders = (await rowsByEntity(db, provider, entities)).filter((row) => ownOf(row) === row.entity);
  const held = Map.groupBy(holders, (row) => row.entity ?? '');
  return changed.flatMap(({ line, recordId, entity, number }) => {
    const [other] = held.get(entity) ?? [];
    if (other === undefined) return [];
    const found = rows.get(recordId)?.found ?? '';
    return { line, problem: `record ${recordId} holds ${found}; ${number} is the number of record ${other.record_id}` };
  });
}

/** The company whose number the record itself holds, regardless of the plan file. */
export const ownOf = (row: ScanRow | undefined): string | null => verdictOf(row?.found ?? null, false).entity;
