/**
 * The safety limit: if far more links would end than usual, somebody cleared a property, or the credentials can no
 * longer see the records. No more links end until an operator decides.
 */
import { type Claim, mark, park, settle } from '../../runtime/lanes/lanes.ts';
import { countRows } from '../../store/count.ts';
import { each } from '../../store/each.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Tx } from '../../store/store.ts';
import { markWaiting } from '../links/mark-all.ts';
import { healQueue } from '../names/queues.ts';

/** The lane that is parked while the safety limit is on. No record has this id, and only an operator can release it. */
export const SAFETY_LIMIT_KEY = '*';
export const BEHIND_SAFETY_LIMIT = 'too many links would end within an hour: see the parked lane of the same queue';

const HOUR_MS = 3_600_000;
const FEW = 20;
const SHARE = 0.1;

/** Recent ends of links, and ends that an operator allowed, which are used first. */
interface Tally {
  readonly ended: readonly { readonly at: number; readonly count: number }[];
  readonly allowed: { readonly count: number; readonly until: number };
}

const NONE: Tally = { ended: [], allowed: { count: 0, until: 0 } };

const tallyKey = (provider: string): string => `heal-ends:${provider}`;

/** Whether `count` more links may end now; counts them if so. Otherwise it turns the safety limit on. */
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

export async function isSafetyLimitOn(db: Db, provider: string): Promise<boolean> {
  const lane = await db
    .selectFrom('lane')
    .select('key')
    .where('queue', '=', healQueue(provider))
    .where('key', '=', SAFETY_LIMIT_KEY)
    .executeTakeFirst();
  return lane !== undefined;
}

/** Records whose links wait behind the safety limit, or stayed when an operator kept them. */
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
 * Marks records whose links must be decided again, except behind the safety limit: one by one they would pass below it.
 */
export async function markContested(tx: Tx, provider: string, ids: readonly string[], now: number): Promise<void> {
  const waiting = await behindSafetyLimit(tx, provider, ids);
  const open = ids.filter((id) => !waiting.has(id));
  if (open.length > 0) await mark(tx, healQueue(provider), open, now);
}

/**
 * Releases the waiting lanes of the queue for an hour, restarts the count, and settles the safety limit's lane. Marks
 * the first lanes; `continueMarking` marks the rest.
 */
export async function releaseSafetyLimit(tx: Tx, provider: string, claim: Claim, now: number): Promise<void> {
  if (!(await settle(tx, claim, { kind: 'done' }))) return;
  // A process that met the limit marked its lanes before this lock.
  await lockTally(tx, provider, now);
  const queue = healQueue(provider);
  const count = await countRows(tx, tx.selectFrom('lane').select('key').where('queue', '=', queue));
  await writeTally(tx, provider, { ended: [], allowed: { count, until: now + HOUR_MS } }, now);
  await markWaiting(tx, queue, BEHIND_SAFETY_LIMIT, now);
}

/**
 * How many links may end within an hour. Counts only as far as needed: a million links take long to count, and every
 * batch asks.
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

async function lockTally(tx: Tx, provider: string, now: number): Promise<void> {
  await tx
    .insertInto('kv')
    .values({ key: tallyKey(provider), value: JSON.stringify(NONE), updated_at: now })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ updated_at: now }))
    .execute();
}

async function readTally(tx: Tx, provider: string, now: number): Promise<Tally> {
  const text = await readValue(tx, tallyKey(provider));
  const tally: Tally = text === undefined ? NONE : JSON.parse(text);
  return {
    ended: tally.ended.filter(({ at }) => at > now - HOUR_MS),
    allowed: tally.allowed.until > now ? tally.allowed : NONE.allowed,
  };
}

/** One entry a minute is exact enough for an hour. */
async function writeTally(tx: Tx, provider: string, { ended, allowed }: Tally, now: number): Promise<void> {
  const minutes = Map.groupBy(ended, ({ at }) => Math.floor(at / 60_000));
  const merged = [...minutes.values()].map((each) => ({
    at: Math.max(...each.map(({ at }) => at)),
    count: each.reduce((sum, { count }) => sum + count, 0),
  }));
  await writeValue(tx, tallyKey(provider), JSON.stringify({ ended: merged, allowed }), now);
}
