/** What `check` says of times of which the store knows nothing. */
import type { Config } from '../../config/load.ts';
import type { Findings } from '../../runtime/finding.ts';
import { readOpenGaps } from '../../store/recovery/gap.ts';
import type { Db } from '../../store/store.ts';
import { shownTime } from '../arguments/with-store.ts';

const CAUSES = {
  restored: 'it was restored from a copy',
  journal: 'a part of its journal was lost, or a copy was put in its place by hand',
} as const;

/** A warning for each such time, until full updates were asked for. The service's half reads the register again by itself. */
export async function gapFindings(db: Db, { connector }: Pick<Config, 'connector'>): Promise<Findings> {
  if (connector === undefined) return [];
  return (await readOpenGaps(db)).map(({ since, until, cause }) => ({
    level: 'warn',
    subject: 'store',
    found: `holds nothing of ${shownTime(since)} to ${shownTime(until)}: ${CAUSES[cause]}`,
    advice:
      'run cvrsync monitoring update, which asks for the whole state of every linked company, then cvrsync reconcile',
  }));
}
