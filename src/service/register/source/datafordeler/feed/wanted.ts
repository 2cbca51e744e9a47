/** Selects the companies of the feed that the service reads: those that a monitor lists, and those with a snapshot. */
import { each } from '../../../../../store/each.ts';
import type { Db } from '../../../../../store/store.ts';

/** Selects from these companies those to read; all of them if a monitor has all companies as its target. */
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
