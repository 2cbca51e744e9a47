/**
 * The safety limit: where far more links would end than usual, somebody cleared a property or the credentials lost revision of the
 * records. Nothing more ends until an operator decides.
 */
import { type Claim, mark, park, settle } from '../../runtime/lanes/lanes.ts';
import { countRows } from '../../store/count.ts';
import { each } from '../../store/each.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Tx } from '../../store/store.ts';
import { markWaiting } from '../links/mark-all.ts';
import { healQueue } from '../names/queues.ts';

/** The lane that is parked while the safety limit is on; no record has this id. Only an operator's release makes it claimable. */
export const SAFETY_LIMIT_KEY = '*';
/** The error of the lanes that wait behind the safety limit. */
export const BEHIND_SAFETY_LIMIT = 'too many links would end within an hour: see the parked lane of the same queue';

const HOUR_MS = 3_600_000;
const FEW = 20;
const SHARE = 0.1;

/** What ended lately, and what an operator allowed beyond that, which is used first. */
interface Tally {
  readonly ended: readonly { readonly at: number; readonly count: number }[];
  readonly allowed: { readonly count: number; readonly until: number };
}

const NONE: Tally = { ended: [], allowed: { count: 0, until: 0 } };

const tallyKey = (provider: string): string => `heal-ends:${provider}`;

/**
 * Whether `count` more links of a connection may end now, and counts them if they may. Else the safety limit is on: no
 * link ends by itself until an operator accepts its lane.
 */
export async function mayEnd(tx: Tx, provider: string, count: number, now: number): Promise<boolean> {
  if (count === 0) return true;
  const queue = healQueue(provider);
  await lockTally(tx, provider, now);
  if (await isSafetyLimitOn(tx, provider)) return false;
  const { ended, allowed } = await readTally(tx, provider, now);
  const before = ended.reduce((sum, each) => sum + each.count, 0);
  const beyond = Math.max(0, count - allowed.count);
  const ending = before + beyond;
  const most = await mostOf(tx, provider, { ended: before, ending });
  if (ending <= most) {
    const left = { ...allowed, count: allowed.count - (count - beyond) };
    await writeTally(tx, provider, { ended: [...ended, { at: now, count: beyond }], allowed: left }, now);
    return true;
  }
  const reason = `${before} links ended within an hour and ${count} or more are to follow, of at most ${most}: their records were deleted, or lost their numbers`;
  await park(tx, queue, SAFETY_LIMIT_KEY, { at: now, error: reason });
  return false;
}

/** Whether the safety limit of a connection is on. */
export async function isSafetyLimitOn(db: Db, provider: string): Promise<boolean> {
  const lane = await db
    .selectFrom('lane')
    .select('key')
    .where('queue', '=', healQueue(provider))
    .where('key', '=', SAFETY_LIMIT_KEY)
    .executeTakeFirst();
  return lane !== undefined;
}

/** Those of these records whose links wait behind the safety limit, or stayed when an operator kept them. */
export async function behindSafetyLimit(
  db: Db,
  provider: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const lanes = await db
    .selectFrom('lane')
    .select('key')
    .where('queue', '=', healQueue(provider))
    .where('key', 'in', each(db, ids))
    .where('error', '=', BEHIND_SAFETY_LIMIT)
    .execute();
  return new Set(lanes.map(({ key }) => key));
}

/**
 * Has the links of records decided anew. Not of those that wait behind the safety limit: woken one by one they would pass
 * below it.
 */
export async function markContested(tx: Tx, provider: string, ids: readonly string[], now: number): Promise<void> {
  const waiting = await behindSafetyLimit(tx, provider, ids);
  const open = ids.filter((id) => !waiting.has(id));
  if (open.length > 0) await mark(tx, healQueue(provider), open, now);
}

/**
 * Lets everything go on that waits in the queue, for an hour, and counts anew what ends beyond that; settles the safety limit's
 * lane. Wakes the first of what waits: `continueMarking` wakes the others.
 */
export async function releaseSafetyLimit(tx: Tx, provider: string, claim: Claim, now: number): Promise<void> {
  if (!(await settle(tx, claim, { kind: 'done' }))) return;
  // A process that met the safety limit has marked its lanes before we read them.
  await lockTally(tx, provider, now);
  const queue = healQueue(provider);
  const count = await countRows(tx, tx.selectFrom('lane').select('key').where('queue', '=', queue));
  await writeTally(tx, provider, { ended: [], allowed: { count, until: now + HOUR_MS } }, now);
  await markWaiting(tx, queue, BEHIND_SAFETY_LIMIT, now);
}

/**
 * How many links may end within an hour, where `ending` would: counted only as far as decides it, for a million links take
 * long to count and this is asked with every batch.
 */
async function mostOf(tx: Tx, provider: string, { ended, ending }: { ended: number; ending: number }): Promise<number> {
  if (ending <= FEW) return FEW;
  const active = tx
    .selectFrom('link')
    .select('record_id')
    .where('provider', '=', provider)
    .where('state', '=', 'active');
  const counted = await countRows(tx, active.limit(Math.ceil(ending / SHARE)));
  return Math.max(FEW, Math.floor((counted + ended) * SHARE));
}

/** Serialises processes that count at the same time. */
async function lockTally(tx: Tx, provider: string, now: number): Promise<void> {
  await tx
    .insertInto('kv')
    .values({ key: tallyKey(provider), value: JSON.stringify(NONE), updated_at: now })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ updated_at: now }))
    .execute();
}

async function readTally(tx: Tx, provider: string, now: number): Promise<Tally> {
  const text = await readValue(tx, tallyKey(provider));
  // We wrote it: it is a tally.
  const tally: Tally = text === undefined ? NONE : JSON.parse(text);
  return {
    ended: tally.ended.filter(({ at }) => at > now - HOUR_MS),
    allowed: tally.allowed.until > now ? tally.allowed : NONE.allowed,
  };
}

/** A line a minute is fine enough for an hour. */
async function writeTally(tx: Tx, provider: string, { ended, allowed }: Tally, now: number): Promise<void> {
  const minutes = Map.groupBy(ended, ({ at }) => Math.floor(at / 60_000));
  const merged = [...minutes.values()].map((each) => ({
    at: Math.max(...each.map(({ at }) => at)),
    count: each.reduce((sum, { count }) => sum + count, 0),
  }));
  await writeValue(tx, tallyKey(provider), JSON.stringify({ ended: merged, allowed }), now);
}
