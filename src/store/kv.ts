/** Small values that survive a restart: cursors, counts, tokens. */
import type { Db, Tx } from './store.ts';

export async function readValue(db: Db, key: string): Promise<string | undefined> {
  const row = await db.selectFrom('kv').select('value').where('key', '=', key).executeTakeFirst();
  return row?.value;
}

export async function writeValue(tx: Tx, key: string, value: string, now: number): Promise<void> {
  const state = { value, updated_at: now };
  await tx
    .insertInto('kv')
    .values({ key, ...state })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(state))
    .execute();
}
