/** What history tells of decisions, a line for each. */
import { type HistoryLine, linesOf, type StoredLine } from '../../src/connector/history/history-lines.ts';
import type { Db } from '../../src/store/store.ts';

/** All lines, in the order in which they were written. */
export async function historyLines(db: Db): Promise<readonly HistoryLine[]> {
  const rows = await db.selectFrom('history').selectAll().orderBy('id').execute();
  return rows.flatMap(linesOf);
}

/** Lines as the column holds them. */
export const asStored = (...lines: readonly StoredLine[]): string => JSON.stringify(lines);
