/** Which properties cvrsync created in a CRM: only those may be removed when a person leaves it. */
import { each } from '../../store/each.ts';
import { writeValue } from '../../store/kv.ts';
import type { Db, Tx } from '../../store/store.ts';

/** `tried`: asked for, without an answer so far. */
export type MakingState = 'tried' | 'made';

/** Where: another account of the same connection may have a property of people's under the same name. */
export interface MadeIn {
  readonly provider: string;
  readonly account: string;
}

/** A connection's name holds no blank, and so its account. */
const keyOf = ({ provider, account }: MadeIn, property: string): string =>
  `made:${provider} ${encodeURIComponent(account)} ${property}`;

/** The properties that cvrsync created in an account, or tried to, by name. */
export async function readMade(db: Db, place: MadeIn): Promise<ReadonlyMap<string, MakingState>> {
  const prefix = keyOf(place, '');
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
  place: MadeIn,
  states: ReadonlyMap<string, MakingState>,
  now: number,
): Promise<void> {
  for (const [property, state] of states) await writeValue(tx, keyOf(place, property), state, now);
}

export async function forgetMade(tx: Tx, place: MadeIn, properties: readonly string[]): Promise<void> {
  const keys = properties.map((property) => keyOf(place, property));
  await tx.deleteFrom('kv').where('key', 'in', each(tx, keys)).execute();
}
