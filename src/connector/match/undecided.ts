/** Matched records that wait for a person's decision. */
import { sql } from 'kysely';
import { hasNoRow } from '../../store/has-row.ts';
import type { Db } from '../../store/store.ts';
import type { MatchedRecord } from './results.ts';

export interface UndecidedMatch extends MatchedRecord {
  readonly provider: string;
}

/** The last record of a list's page. */
export interface MatchPlace {
  readonly provider: string;
  readonly recordId: string;
}

/** The reason of a link whose answer was undone: the record waits again. */
export const TAKEN_BACK = 'the answer was taken back';

/** Results with a company that nobody has decided; queries name the table `found`. */
export const undecided = (db: Db) =>
  db
    .selectFrom('match_result as found')
    .where('entity', 'is not', null)
    // A linked or unlinked record is decided.
    .where(({ selectFrom }) =>
      hasNoRow(
        selectFrom('link')
          .select('link.record_id')
          .whereRef('link.provider', '=', 'found.provider')
          .whereRef('link.record_id', '=', 'found.record_id')
          .where(sql<boolean>`not (link.state = 'removed' and coalesce(link.reason, '') = ${TAKEN_BACK})`),
      ),
    );

/** Undefined if the record is decided or was never matched. */
export async function readUndecided(db: Db, { provider, recordId }: MatchPlace): Promise<UndecidedMatch | undefined> {
  const row = await undecided(db)
    .select('body')
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .executeTakeFirst();
  return row === undefined ? undefined : { ...JSON.parse(row.body), provider };
}
