/**
 * A reconcile run by a person: it holds the connection's lane and puts it back, so that no daemon reconciles meanwhile.
 */

import { claimByKey } from '../../runtime/lanes/claim.ts';
import { settle } from '../../runtime/lanes/lanes.ts';
import { renewWhile } from '../../runtime/lanes/renew-while.ts';
import type { Claim, Settlement } from '../../runtime/lanes/settlement.ts';
import type { Db, Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { POLL_QUEUE, pollKey } from '../poll/poll-task.ts';
import { RECONCILE, reconcileTask } from './task.ts';

export interface ExclusiveRunOptions {
  readonly store: Store;
  readonly crm: Crm;
  readonly now: () => number;
  readonly leaseMs: number;
}

/** `isDone`: the daemon's next reconcile can wait the whole interval. */
export interface ExclusiveResult<T> {
  readonly value: T;
  readonly isDone: boolean;
}

/** Undefined if another process reconciles the connection. If the work was not done, the lane is as before. */
export async function runExclusively<T>(
  { store, crm, now, leaseMs }: ExclusiveRunOptions,
  work: (claim: Claim) => Promise<ExclusiveResult<T>>,
): Promise<T | undefined> {
  const key = pollKey(crm.name, RECONCILE);
  const before = await settlementBefore(store.db, key, now());
  const [claim] = await claimByKey(store, POLL_QUEUE, [key], { now: now(), leaseMs });
  if (claim === undefined) return undefined;
  let settlement = before;
  try {
    const { value, isDone } = await renewWhile([claim], { store, now, leaseMs }, () => work(claim));
    const every = reconcileTask.everyMs(crm);
    if (isDone) settlement = every === undefined ? { kind: 'done' } : { kind: 'again', at: now() + every, fresh: true };
    return value;
  } finally {
    await store.write((tx) => settle(tx, claim, settlement));
  }
}

async function settlementBefore(db: Db, key: string, now: number): Promise<Settlement> {
  const row = await db
    .selectFrom('lane')
    .select(['due_at', 'parked_at', 'error'])
    .where('queue', '=', POLL_QUEUE)
    .where('key', '=', key)
    .executeTakeFirst();
  if (row === undefined) return { kind: 'done' };
  if (row.parked_at !== null) return { kind: 'parked', at: row.parked_at, error: row.error ?? '' };
  return { kind: 'again', at: row.due_at ?? now, free: true, ...(row.error !== null && { error: row.error }) };
}
