/** Small values that outlive a restart: cursors, counts, tokens. */
import type { Db, Tx } from './store.ts';

/** The value kept under a key; undefined where there is none. */
export async function readKept(db: Db, key: string): Promise<string | undefined> {
  const row = await db.selectFrom('keep').select('value').where('key', '=', key).executeTakeFirst();
  return row?.value;
}

/** Keeps a value, in place of the one before. */
export async function writeKept(tx: Tx, key: string, value: string, now: number): Promise<void> {
  const state = { value, updated_at: now };
  await tx
    .insertInto('keep')
    .values({ key, ...state })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(state))
    .execute();
}
