/** Which companies of the feed are read: those that somebody lists, and those that are known already. */
import { each } from '../../../../../store/each.ts';
import type { Db } from '../../../../../store/store.ts';

/** Of these companies the ones to read; all if a monitor is for all companies. */
export async function wantedCompanies(db: Db, entities: readonly string[]): Promise<ReadonlySet<string>> {
  const all = await db
    .selectFrom('monitor')
    .select('id')
    .where('target', '=', 'all')
    .where('enabled_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  if (all !== undefined) return new Set(entities);
  const listed = await db.selectFrom('item').select('entity').where('entity', 'in', each(db, entities)).execute();
  const known = await db.selectFrom('snapshot').select('entity').where('entity', 'in', each(db, entities)).execute();
  return new Set([...listed, ...known].map(({ entity }) => entity));
}
