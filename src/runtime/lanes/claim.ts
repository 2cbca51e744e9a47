/** Claims lanes: those that are due, for workers, or named ones, for work that a person requested. */
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { each } from '../../store/each.ts';
import type { LaneTable } from '../../store/runtime-schema.ts';
import type { StoreSchema } from '../../store/schema.ts';
import type { Store, Tx } from '../../store/store.ts';
import { newFencingToken } from './fencing-token.ts';
import { isFree, UNENDED } from './lane-state.ts';
import type { Claim } from './settlement.ts';

/**
 * Runs first in the transaction of a claim, which can take lanes that it marks as due `now`. Its result is called after
 * the commit. Like all work of a transaction it may run twice.
 */
export type Prepare = (tx: Tx, now: number) => Promise<() => void>;

/** When a claim's hold on its lanes ends. */
interface Lease {
  readonly now: number;
  readonly leaseMs: number;
}

/**
 * Claims up to `limit` due lanes, oldest first, for `leaseMs`. Skips lanes that another process is claiming; a lane
 * with an expired lease is due again.
 */
export async function claim(
  store: Store,
  queue: string,
  options: Lease & {
    readonly limit: number;
    readonly keys?: readonly string[];
    /** Keys to leave to other processes. */
    readonly except?: readonly string[];
    readonly prepare?: Prepare | undefined;
  },
): Promise<readonly Claim[]> {
  const { limit, now, keys, except = [], prepare } = options;
  if (limit < 1 || keys?.length === 0) return [];
  const lease = leaseOf(store, queue, options);
  const take = async (tx: Tx) => {
    const committed = await prepare?.(tx, now);
    const claims = await lease(tx, (free) =>
      free
        .where('due_at', '<=', now)
        .$if(keys !== undefined, (query) => query.where('key', 'in', each(tx, keys ?? [])))
        .$if(except.length > 0, (query) => query.where('key', 'not in', each(tx, except)))
        .orderBy('due_at')
        .orderBy('key')
        .limit(limit),
    );
    return { claims, committed };
  };
  // A lost claim does no harm: its lanes are due again, with all that was prepared.
  const { claims, committed } = await store.write(take, { ephemeral: true });
  committed?.();
  return claims.toSorted((a, b) => a.since - b.since || (a.key < b.key ? -1 : 1));
}

/**
 * Claims these lanes for `leaseMs`, whether they are behind, waiting, parked or absent, so that nobody else works on
 * them. Leaves out held lanes. Settle each lane as after any claim.
 */
export async function claimByKey(
  store: Store,
  queue: string,
  keys: readonly string[],
  options: Lease,
): Promise<readonly Claim[]> {
  if (keys.length === 0) return [];
  const sorted = [...new Set(keys)].sort();
  const now = sql<number>`cast(${options.now} as bigint)`;
  const lease = leaseOf(store, queue, options);
  return store.write(async (tx) => {
    await sql`insert into lane (queue, key, due_at, marks, attempts, since)
      select cast(${queue} as text), value, ${now}, 1, 0, ${now}
      from ${each(tx, sorted)} as list where true on conflict (queue, key) do nothing`.execute(tx);
    // A parked lane has no due time: if we die, it is due when the lease ends.
    const asked = { due_at: sql<number>`coalesce(due_at, ${now})`, parked_at: null };
    return lease(tx, (free) => free.where('key', 'in', each(tx, sorted)).orderBy('key'), asked);
  });
}

/** Other changes of the claimed lanes. */
interface Asked {
  readonly due_at?: RawBuilder<number>;
  readonly parked_at?: null;
}

type FreeLanes = SelectQueryBuilder<StoreSchema, 'lane', Pick<LaneTable, 'key'>>;

/** Claims the lanes of a queue that `choose` selects from the free ones, with a new fencing token. */
function leaseOf(store: Store, queue: string, { now, leaseMs }: Lease) {
  const fence = newFencingToken(store);
  return async (tx: Tx, choose: (free: FreeLanes) => FreeLanes, more: Asked = {}): Promise<readonly Claim[]> => {
    const rows = await tx
      // PostgreSQL runs a CTE that locks rows exactly once; a subquery could exceed the limit.
      .with('taken', (cte) =>
        choose(cte.selectFrom('lane').select('key').where('queue', '=', queue).where(isFree(now))).$if(
          store.engine === 'postgres',
          (query) => query.forUpdate().skipLocked(),
        ),
      )
      .updateTable('lane')
      .set({ fence, lease_until: now + leaseMs, again_at: null, unended: UNENDED, ...more })
      .where('queue', '=', queue)
      .where('key', 'in', (query) => query.selectFrom('taken').select('taken.key'))
      .returning(['queue', 'key', 'marks', 'attempts', 'since', 'unended'])
      .execute();
    return rows.map((row) => ({ ...row, fence }));
  };
}
