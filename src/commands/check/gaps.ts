import type { Config } from '../../config/load.ts';
import type { Findings } from '../../runtime/finding.ts';
import { readOpenGaps } from '../../store/recovery/gap.ts';
import type { Db } from '../../store/store.ts';
import { shownTime } from '../cli/when.ts';

const CAUSES = {
  restored: 'it was restored from a copy',
  journal: 'a part of its journal was lost, or a copy was put in its place by hand',
} as const;

/**
 * Warns of each time for which the store has nothing, until somebody requested full updates. The service half rereads
 * the register by itself.
 */
export async function gapFindings(db: Db, { connector }: Pick<Config, 'connector'>): Promise<Findings> {
  if (connector === undefined) return [];
  return (await readOpenGaps(db)).map(({ since, until, cause }) => ({
    level: 'warn',
    subject: 'store',
    found: `holds nothing from ${shownTime(since)} to ${shownTime(until)}: ${CAUSES[cause]}`,
    advice:
      'run cvrsync monitoring update, which asks for the whole state of every linked company, then cvrsync reconcile',
  }));
}
