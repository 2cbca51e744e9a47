/**
 * The property with the CVR number. If the configuration names another one than the links were made by, all numbers
 * differ at once, but no link is meant to end. Links follow the new property after a backfill by it.
 */
import type { Property } from '../../../providers/provider.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Store, Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';

const matchKey = (provider: string): string => `match:${provider}`;

/**
 * The property that a connection's links follow; undefined if the account lacks it, or links were made by another one.
 * Remembers the first.
 */
export async function readMatch(
  store: Store,
  crm: Pick<Crm, 'name' | 'match'>,
  schema: ReadonlyMap<string, Property>,
  now: number,
): Promise<string | undefined> {
  const match = await followedMatch(store.db, crm, schema);
  if (match !== undefined && (await readValue(store.db, matchKey(crm.name))) !== match)
    await store.write((tx) => acceptMatch(tx, crm.name, match, now));
  return match;
}

/** As {@link readMatch}, but remembers nothing. */
export async function followedMatch(
  db: Db,
  { name, match }: Pick<Crm, 'name' | 'match'>,
  schema: ReadonlyMap<string, Property>,
): Promise<string | undefined> {
  if (match === undefined || !schema.has(match)) return undefined;
  return (await otherMatch(db, name, match)) === undefined ? match : undefined;
}

export async function otherMatch(db: Db, provider: string, match: string): Promise<string | undefined> {
  const known = await readValue(db, matchKey(provider));
  return known !== undefined && known !== match && (await hasNumbered(db, provider)) ? known : undefined;
}

/** Links follow this property from now on: a backfill has read the records by it. */
export const acceptMatch = (tx: Tx, provider: string, match: string, now: number): Promise<void> =>
  writeValue(tx, matchKey(provider), match, now);

async function hasNumbered(db: Db, provider: string): Promise<boolean> {
  const link = await db
    .selectFrom('link')
    .select('record_id')
    .where('provider', '=', provider)
    .where('origin', '=', 'number')
    .where('state', 'in', ['active', 'conflict'])
    .limit(1)
    .executeTakeFirst();
  return link !== undefined;
}
