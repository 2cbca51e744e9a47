/** Takes one lane for a person who does its work by hand, so that no worker does it at the same time. */
import { randomInt } from 'node:crypto';
import { engineOf, type Store, type Tx } from '../store/store.ts';
import type { Claim, Settlement } from './settlement.ts';

export interface Seized {
  readonly claim: Claim;
  /** How the lane goes on where nothing was done after all. */
  readonly before: Settlement;
}

/** Claims a lane, due or not, parked or not there yet; undefined where somebody holds it. The caller renews the lease. */
export async function seize(
  store: Store,
  queue: string,
  key: string,
  { now, leaseMs }: { readonly now: number; readonly leaseMs: number },
): Promise<Seized | undefined> {
  const epoch = randomInt(1, 2 ** 48 - 1);
  return store.write(async (tx) => {
    const before = await settlementBefore(tx, queue, key);
    const taken = { epoch, due_at: now + leaseMs, again_at: null, parked_at: null, error: null };
    const row = await tx
      .insertInto('lane')
      .values({ queue, key, marks: 1, attempts: 0, since: now, ...taken })
      .onConflict((conflict) =>
        conflict
          .columns(['queue', 'key'])
          .doUpdateSet(taken)
          .where(({ eb, or }) => or([eb('lane.epoch', 'is', null), eb('lane.due_at', '<=', now)])),
      )
      .returning(['queue', 'key', 'marks', 'attempts', 'since'])
      .executeTakeFirst();
    return row === undefined ? undefined : { claim: { ...row, epoch }, before };
  });
}

async function settlementBefore(tx: Tx, queue: string, key: string): Promise<Settlement> {
  const row = await tx
    .selectFrom('lane')
    .select(['due_at', 'parked_at', 'error'])
    .where('queue', '=', queue)
    .where('key', '=', key)
    .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst();
  if (row === undefined) return { kind: 'done' };
  if (row.parked_at !== null) return { kind: 'parked', at: row.parked_at, error: row.error ?? '' };
  return { kind: 'again', at: row.due_at ?? 0, free: true, ...(row.error !== null && { error: row.error }) };
}
