import { type IndexState, readIndexState } from '../../match/index/state.ts';
import type { Db } from '../../store/store.ts';

export const FILE_SOURCES =
  "a file of companies is made of the file download of Datafordeler (register CVR), of an extract of the register's CVR system-to-system access, or is a list of your own; docs/match.md names the columns";

export const MAKE_INDEX = `make it with cvrsync match index FILE from a file of companies, or with cvrsync match index --rebuild from what the service has loaded of the register. Such ${FILE_SOURCES}`;

/** Throws if the index is missing or incomplete. */
export async function needIndex(db: Db): Promise<IndexState> {
  const state = await readIndexState(db);
  if (state === undefined) throw new Error(`there is no company index yet, or one of another version: ${MAKE_INDEX}`);
  if (state.phase !== 'ready')
    throw new Error(`the company index is not finished: run the same cvrsync match index again (${state.source})`);
  return state;
}
