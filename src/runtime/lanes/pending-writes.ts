/**
 * Pending writes: stored before a write leaves this process under a claim. If the process freezes until another takes
 * its lane, or dies, nobody knows whether or when the write arrives. So the lane is checked again for a day, and each
 * check recognises the value. If the answer comes late, the checks end with the first that begins well after it.
 */
import { sql } from 'kysely';
import { each, eachRow } from '../../store/each.ts';
import { type InsertTarget, insertRows } from '../../store/insert-rows.ts';
import type { Db, Tx } from '../../store/store.ts';
import { mark } from './lanes.ts';
import type { Claim } from './settlement.ts';

export interface PendingWrite {
  readonly queue: string;
  readonly key: string;
  /** The claim's fencing token; {@link UNANSWERED} if its process got no answer. */
  readonly fence: number;
  readonly at: number;
  /** What is written, as JSON of the queue's worker. */
  readonly detail: string;
  /** When its answer came, if another process owned the lane by then; null without an answer. */
  readonly answeredAt?: number | null;
}

const UNANSWERED = 0;
const MINUTE = 60_000;
/** When to check a lane with a pending write, counted from the beginning of the write. */
const CHECKS_MS = [1, 3, 10, 30, 120, 480, 1_440].map((minutes) => minutes * MINUTE);
const LAST_CHECK_MS = CHECKS_MS.at(-1) ?? 0;
const STEP = 500;
/** A CRM shows a write at most this long after its answer, including the difference between two clocks. */
const SHOWN_MS = 30_000;

export const pendingUnder = ({ queue, key, fence }: Claim, at: number, detail: object): PendingWrite => {
  return { queue, key, fence: fence, at, detail: JSON.stringify(detail) };
};

const NAME = ['queue', 'key', 'fence', 'at'] as const;

const BEGUN: InsertTarget = {
  table: 'pending_write',
  columns: [...NAME, 'detail', 'check_at'],
  rest: 'on conflict (queue, key, fence, at) do update set detail = excluded.detail',
};

/** Stores writes before they are sent. Call it in a transaction that holds the lanes. */
export async function beginWrites(tx: Tx, writes: readonly PendingWrite[]): Promise<void> {
  const rows = writes.map(({ queue, key, fence, at, detail }) => [
    queue,
    key,
    fence,
    at,
    detail,
    at + (CHECKS_MS[0] ?? 0),
  ]);
  await insertRows(tx, BEGUN, rows);
}

export const nameOf = ({ queue, key, fence, at }: Omit<PendingWrite, 'detail'>): string =>
  [queue, key, fence, at].join(' ');

/** Forgets writes with a known outcome: answered, or never sent. Returns the names of those that were pending. */
export async function endWrites(tx: Tx, writes: readonly PendingWrite[]): Promise<ReadonlySet<string>> {
  if (writes.length === 0) return new Set();
  const { rows } = await sql<Omit<PendingWrite, 'detail'>>`delete from pending_write where (queue, key, fence, at) in
    (select each.queue, each.key, cast(each.fence as bigint), cast(each.at as bigint)
      from ${eachRow(tx, NAME, writes)})
    returning queue, key, fence, at`.execute(tx);
  return new Set(rows.map(nameOf));
}

/**
 * Whether a read that began at `readFrom` shows the full effect of the write: an equal value that appears later is not
 * ours.
 */
export const isShown = ({ answeredAt }: PendingWrite, readFrom: number): boolean =>
  typeof answeredAt === 'number' && readFrom >= answeredAt + SHOWN_MS;

export interface EndedWrite {
  readonly write: PendingWrite;
  readonly isOurs: boolean;
  readonly end: 'answered' | 'unanswered' | 'unsent';
}

/**
 * Settles writes: forgets answered ones. A write under a lost lease may have replaced a newer value, so its lane is
 * marked to be read and repaired. Returns the keys of those lanes.
 */
export async function settleWrites(tx: Tx, ended: readonly EndedWrite[], now: number): Promise<ReadonlySet<string>> {
  const pick = (which: (each: EndedWrite) => boolean) => ended.filter(which).map(({ write }) => write);
  await endWrites(
    tx,
    pick(({ isOurs, end }) => end === 'unsent' || (isOurs && end === 'answered')),
  );
  await leaveUnanswered(
    tx,
    pick(({ isOurs, end }) => isOurs && end === 'unanswered'),
  );
  await rememberAnswers(
    tx,
    pick(({ isOurs, end }) => !isOurs && end === 'answered'),
    now,
  );
  const overtaken = pick(({ isOurs, end }) => !isOurs && end !== 'unsent');
  const keys = new Set(overtaken.map(({ key }) => key));
  const queue = overtaken[0]?.queue;
  if (queue !== undefined) await mark(tx, queue, [...keys], now);
  return keys;
}

async function rememberAnswers(tx: Tx, writes: readonly PendingWrite[], now: number): Promise<void> {
  if (writes.length === 0) return;
  await sql`update pending_write set answered_at = cast(${now} as bigint), check_at = cast(${now + SHOWN_MS} as bigint)
    where (queue, key, fence, at) in
      (select each.queue, each.key, cast(each.fence as bigint), cast(each.at as bigint)
        from ${eachRow(tx, NAME, writes)})`.execute(tx);
}

/** Keeps writes without an answer; of equal ones only the last, so that an outage does not pile them up. */
async function leaveUnanswered(tx: Tx, writes: readonly PendingWrite[]): Promise<void> {
  if (writes.length === 0) return;
  await sql`delete from pending_write where fence = ${UNANSWERED} and (queue, key, detail) in
    (select each.queue, each.key, each.detail
      from ${eachRow(tx, ['queue', 'key', 'detail'], writes)})`.execute(tx);
  await endWrites(tx, writes);
  await beginWrites(
    tx,
    writes.map((write) => ({ ...write, fence: UNANSWERED })),
  );
}

export async function readPendingWrites(
  db: Db,
  queue: string,
  keys: readonly string[],
): Promise<readonly PendingWrite[]> {
  return db
    .selectFrom('pending_write')
    .select(['queue', 'key', 'fence', 'at', 'detail', 'answered_at as answeredAt'])
    .where('queue', '=', queue)
    .where('key', 'in', each(db, keys))
    .orderBy('at')
    .execute();
}

/** A lane whose writes may arrive on another record from `now` on. */
export interface Detour {
  readonly from: string;
  readonly to: string;
  readonly now: number;
}

/**
 * Moves a lane's pending writes to another lane, because they may arrive on its record. The writes of a live claim
 * stay: its process learns their outcome.
 */
export async function moveWrites(tx: Tx, queue: string, { from, to, now }: Detour): Promise<void> {
  const isOpen = sql`queue = ${queue} and key = ${from} and not exists (select 1 from lane
    where lane.queue = pending_write.queue and lane.key = pending_write.key and lane.fence = pending_write.fence
      and lane.lease_until > ${now})`;
  await sql`insert into pending_write (queue, key, fence, at, detail, check_at, answered_at)
    select queue, cast(${to} as text), fence, at, detail, check_at, answered_at from pending_write where ${isOpen}
    on conflict (queue, key, fence, at) do nothing`.execute(tx);
  await sql`delete from pending_write where ${isOpen}`.execute(tx);
}

/**
 * Marks the lanes with pending writes that are due for a check, except parked ones, and forgets writes after their last
 * check. One step; true if more may be due.
 */
export async function checkPendingWrites(tx: Tx, now: number): Promise<boolean> {
  const due = await tx
    .selectFrom('pending_write')
    .select([...NAME, 'check_at', 'answered_at'])
    .where('check_at', '<=', now)
    .orderBy('check_at')
    .limit(STEP)
    .execute();
  const next: (PendingWrite & { readonly recheck: number | null })[] = [];
  for (const [queue, writes] of [...Map.groupBy(due, ({ queue }) => queue)].sort()) {
    const behind = await lanesBehind(tx, queue, writes);
    const checked = writes.filter((write) => behind.get(write.key) !== 'parked' && !isPastChecks(write));
    if (checked.length > 0) await mark(tx, queue, [...new Set(checked.map(({ key }) => key))], now);
    next.push(
      ...writes.map((write) => ({ ...write, detail: '', recheck: recheckOf(write, behind.get(write.key), now) })),
    );
  }
  await endWrites(
    tx,
    next.filter(({ recheck }) => recheck === null),
  );
  const going = next.filter(({ recheck }) => recheck !== null);
  if (going.length > 0)
    await sql`update pending_write set check_at = cast(each.recheck as bigint)
      from ${eachRow(tx, [...NAME, 'recheck'], going)}
      where pending_write.queue = each.queue and pending_write.key = each.key
        and pending_write.fence = cast(each.fence as bigint) and pending_write.at = cast(each.at as bigint)`.execute(
      tx,
    );
  return due.length === STEP;
}

async function lanesBehind(
  tx: Tx,
  queue: string,
  writes: readonly { readonly key: string }[],
): Promise<ReadonlyMap<string, 'parked' | 'waiting'>> {
  const keys = writes.map(({ key }) => key);
  const lanes = await tx
    .selectFrom('lane')
    .select(['key', 'parked_at'])
    .where('queue', '=', queue)
    .where('key', 'in', each(tx, keys))
    .execute();
  return new Map(lanes.map(({ key, parked_at }) => [key, parked_at === null ? 'waiting' : 'parked']));
}

interface DueWrite {
  readonly at: number;
  readonly check_at: number;
  readonly answered_at: number | null;
}

/** Whether the last check was before this one. */
const isPastChecks = ({ at, check_at, answered_at }: DueWrite): boolean =>
  check_at > Math.max(at + LAST_CHECK_MS, (answered_at ?? 0) + SHOWN_MS);

/**
 * When to check a write next; null to forget it. A lane that was marked must be read first: only with the pending
 * write does it recognise the value, also if cvrsync was down for longer than the checks take.
 */
function recheckOf(write: DueWrite, lane: 'parked' | 'waiting' | undefined, now: number): number | null {
  const later = CHECKS_MS.find((ms) => write.at + ms > now);
  if (later !== undefined) return write.at + later;
  if (lane === 'parked') return null;
  return isPastChecks(write) && lane === undefined ? null : now + MINUTE;
}
