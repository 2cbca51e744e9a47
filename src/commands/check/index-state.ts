/** The size and age of the company index; nothing if it does not exist and no connection needs it. */
import { readIndexState } from '../../match/index/state.ts';
import type { Findings } from '../../runtime/finding.ts';
import type { Db } from '../../store/store.ts';
import { MAKE_INDEX } from '../match/need-index.ts';

export async function indexFindings(db: Db, isNeeded: boolean): Promise<Findings> {
  const state = await readIndexState(db);
  const subject = 'company index';
  if (state === undefined)
    return isNeeded
      ? [
          {
            level: 'warn',
            subject,
            found: 'missing: autoMatch suggests nothing',
            advice: MAKE_INDEX,
          },
        ]
      : [];
  const { phase, source, entries, at, isPartial } = state;
  const found = `${entries} companies and production units from ${source.replace(/ \d+ \d+$/u, '')}, ${new Date(at).toISOString().slice(0, 16)}Z${isPartial ? '; partial, as it has fewer than 500,000' : ''}`;
  if (phase === 'ready') return [{ level: 'ok', subject, found }];
  const advice = 'finish it: run the same cvrsync match index again; until then match finds nothing';
  return [{ level: 'warn', subject, found: `not finished: ${found}`, advice }];
}
