/** Claims named lanes at once, for work that a person asked for. */
import { sql } from 'kysely';
import { each } from '../../store/each.ts';
import type { Store } from '../../store/store.ts';
import { newFencingToken } from './fencing-token.ts';
import { isFree, UNENDED } from './lane-state.ts';
import type { Claim } from './settlement.ts';

/**
 * Claims these lanes for `leaseMs`, whether they are behind, waiting, parked or absent, so that nobody else works on
 * them. Leaves out held lanes. Settle each lane as after any claim.
 */
export async function claimByKey(
  store: Store,
  queue: string,
  keys: readonly string[],
  options: { readonly now: number; readonly leaseMs: number },
): Promise<readonly Claim[]> {
  const { now, leaseMs } = options;
  if (keys.length === 0) return [];
  const fence = newFencingToken(store);
  const rows = await store.write(async (tx) => {
    const sorted = [...new Set(keys)].sort();
    await sql`insert into lane (queue, key, due_at, marks, attempts, since)
      select cast(${queue} as text), value, cast(${now} as bigint), 1, 0, cast(${now} as bigint)
      from ${each(tx, sorted)} as list where true on conflict (queue, key) do nothing`.execute(tx);
    return tx
      .with('taken', (cte) =>
        cte
          .selectFrom('lane')
          .select('key')
          .where('queue', '=', queue)
          .where('key', 'in', each(tx, sorted))
          .where(isFree(now))
          .orderBy('key')
          .$if(store.engine === 'postgres', (query) => query.forUpdate().skipLocked()),
      )
      .updateTable('lane')
      .set({
        fence,
        // A parked lane has no due time: if we die, it is due when the lease ends.
        due_at: sql`coalesce(due_at, cast(${now} as bigint))`,
        lease_until: now + leaseMs,
        again_at: null,
        unended: UNENDED,
        parked_at: null,
      })
      .where('queue', '=', queue)
      .where('key', 'in', (query) => query.selectFrom('taken').select('taken.key'))
      .returning(['queue', 'key', 'marks', 'attempts', 'since', 'unended'])
      .execute();
  });
  return rows.map((row) => ({ ...row, fence }));
}
