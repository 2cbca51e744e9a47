/**
 * The property that holds the number: where the configuration names another one than the links were made by, all numbers
 * differ at once, and nobody meant all links to end. Links follow the new one after a backfill by it.
 */
import type { Property } from '../../../providers/provider.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Store, Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';

const keyOf = (provider: string): string => `match:${provider}`;

/**
 * The property by which a connection's links follow their numbers; undefined if the account does not show it, or where
 * links were made by another one. Remembers the first.
 */
export async function readMatch(
  store: Store,
  crm: Pick<Crm, 'name' | 'match'>,
  schema: ReadonlyMap<string, Property>,
  now: number,
): Promise<string | undefined> {
  const match = await followedMatch(store.db, crm, schema);
  if (match !== undefined && (await readValue(store.db, keyOf(crm.name))) !== match)
    await store.write((tx) => acceptMatch(tx, crm.name, match, now));
  return match;
}

/** The same, remembering nothing. */
export async function followedMatch(
  db: Db,
  { name, match }: Pick<Crm, 'name' | 'match'>,
  schema: ReadonlyMap<string, Property>,
): Promise<string | undefined> {
  if (match === undefined || !schema.has(match)) return undefined;
  return (await otherMatch(db, name, match)) === undefined ? match : undefined;
}

/** The other property that a connection's links were made by; undefined if it is this one. */
export async function otherMatch(db: Db, provider: string, match: string): Promise<string | undefined> {
  const known = await readValue(db, keyOf(provider));
  return known !== undefined && known !== match && (await hasNumbered(db, provider)) ? known : undefined;
}

/** Lets links follow this property from now on: a person had the records looked through by it. */
export const acceptMatch = (tx: Tx, provider: string, match: string, now: number): Promise<void> =>
  writeValue(tx, keyOf(provider), match, now);

/** Whether any link that counts was made by a number. */
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
