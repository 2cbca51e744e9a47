/** Which properties cvrsync created in a CRM: only those may be removed when a person leaves it. */
import { each } from '../../store/each.ts';
import { writeValue } from '../../store/kv.ts';
import type { Db, Tx } from '../../store/store.ts';

/** `tried`: asked for, without an answer so far. */
export type MakingState = 'tried' | 'made';

/** A connection's name holds no blank. */
const keyOf = (provider: string, property: string): string => `made:${provider} ${property}`;

/** The properties that cvrsync created, or tried to, by name. */
export async function readMade(db: Db, provider: string): Promise<ReadonlyMap<string, MakingState>> {
  const prefix = keyOf(provider, '');
  const rows = await db
    .selectFrom('kv')
    .select(['key', 'value'])
    .where('key', '>=', prefix)
    .where('key', '<', `${prefix}\u{10FFFF}`)
    .orderBy('key')
    .execute();
  return new Map(rows.map(({ key, value }) => [key.slice(prefix.length), value === 'made' ? 'made' : 'tried']));
}

export async function rememberMaking(
  tx: Tx,
  provider: string,
  states: ReadonlyMap<string, MakingState>,
  now: number,
): Promise<void> {
  for (const [property, state] of states) await writeValue(tx, keyOf(provider, property), state, now);
}

export async function forgetMade(tx: Tx, provider: string, properties: readonly string[]): Promise<void> {
  const keys = properties.map((property) => keyOf(provider, property));
  await tx.deleteFrom('kv').where('key', 'in', each(tx, keys)).execute();
}
