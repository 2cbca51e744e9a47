/** Ends leases early, so that the work of a process that died is due at once instead of at the end of the lease. */
import { sql } from 'kysely';
import type { Store } from '../../store/store.ts';
import { FIRST_DAEMON_TOKEN, HOLDER } from './fencing-token.ts';

/**
 * Returns the number of released lanes. Their claims count as never settled. Reads all lanes: for the start of a
 * daemon, which must hold the store's claim.
 */
export async function releaseDead(store: Store, now: number): Promise<number> {
  const holders = await store.db
    .selectFrom('lane')
    .select(HOLDER.as('holder'))
    .distinct()
    .where('fence', '>=', FIRST_DAEMON_TOKEN)
    .where('lease_until', '>', now)
    .execute();
  // Queried second: every holder of a lane lived before it.
  const living = new Set(await store.livingDaemons());
  const dead = holders.map(({ holder }) => holder).filter((holder) => !living.has(holder));
  if (dead.length === 0) return 0;
  const { numUpdatedRows } = await store.write((tx) =>
    tx
      .updateTable('lane')
      .set({ lease_until: now, due_at: sql`case when due_at > ${now} then cast(${now} as bigint) else due_at end` })
      .where('lease_until', '>', now)
      .where(HOLDER, 'in', dead)
      .executeTakeFirst(),
  );
  return Number(numUpdatedRows);
}

/** Ends the lease of a lane whose work another process may take over, even if the previous one may still run. */
export async function releaseLane(store: Store, queue: string, key: string, now: number): Promise<void> {
  await store.write((tx) =>
    tx
      .updateTable('lane')
      .set({ lease_until: now, due_at: sql`case when due_at > ${now} then cast(${now} as bigint) else due_at end` })
      .where('queue', '=', queue)
      .where('key', '=', key)
      .where('lease_until', '>', now)
      .execute(),
  );
}
