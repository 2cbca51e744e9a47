/** What `check` says of the company index: its size and its age; nothing where nobody made one. */
import { readIndexState } from '../match/index/state.ts';
import type { Findings } from '../runtime/finding.ts';
import type { Db } from '../store/store.ts';

export async function indexFindings(db: Db): Promise<Findings> {
  const state = await readIndexState(db);
  if (state === undefined) return [];
  const { phase, source, entries, at } = state;
  const subject = 'company index';
  const found = `${entries} companies and production units from ${source.replace(/ \d+ \d+$/u, '')}, ${new Date(at).toISOString().slice(0, 16)}Z`;
  if (phase === 'ready') return [{ level: 'ok', subject, found }];
  const advice = 'run the cvrsync match index that was stopped again: until then match finds nothing';
  return [{ level: 'warn', subject, found: `not finished: ${found}`, advice }];
}
