/**
 * Pending writes: what is about to leave this process under a claim, on disk before it does. Where the process stands
 * still and another takes its lane, or where it dies, nobody knows whether the write arrives, nor when: its lane is looked
 * at again for a day, and whoever looks recognises the value. Where its answer comes late, the looks end with the first
 * that begins well after that answer.
 */
import { sql } from 'kysely';
import { each, eachRow } from '../../store/each.ts';
import { type InsertTarget, insertRows } from '../../store/insert-rows.ts';
import type { Db, Tx } from '../../store/store.ts';
import { mark } from './lanes.ts';
import type { Claim } from './settlement.ts';

/** A write that nobody has told the end of. */
export interface PendingWrite {
  readonly queue: string;
  readonly key: string;
  /** The claim's fencing token; {@link UNANSWERED} where its process told that no answer came. */
  readonly fence: number;
  /** When it was begun, in ms since 1970. */
  readonly at: number;
  /** JSON of what is written, in the words of the queue's worker. */
  readonly detail: string;
  /** When its answer came, by which time another process owned the lane, in ms since 1970; null where none came. */
  readonly answeredAt?: number | null;
}

const UNANSWERED = 0;
const MINUTE = 60_000;
/** When a lane with a pending write is looked at, counted from its beginning. After the last look it counts no more. */
const LOOKS_MS = [1, 3, 10, 30, 120, 480, 1_440].map((minutes) => minutes * MINUTE);
const STEP = 500;
/** A CRM shows a write this long after its answer at the latest; the clocks of two machines may differ by some of it. */
const SHOWN_MS = 30_000;

/** The write that a claim is about to make. */
export const pendingUnder = ({ queue, key, fence }: Claim, at: number, detail: object): PendingWrite => {
  return { queue, key, fence: fence, at, detail: JSON.stringify(detail) };
};

/** What names a write among all. */
const NAME = ['queue', 'key', 'fence', 'at'] as const;

const BEGUN: InsertTarget = {
  table: 'pending_write',
  columns: [...NAME, 'detail', 'check_at'],
  rest: 'on conflict (queue, key, fence, at) do update set detail = excluded.detail',
};

/** Says on disk what is about to be sent. In a transaction that holds the lanes, or another may have them by now. */
export async function beginWrites(tx: Tx, writes: readonly PendingWrite[]): Promise<void> {
  const rows = writes.map(({ queue, key, fence, at, detail }) => [
    queue,
    key,
    fence,
    at,
    detail,
    at + (LOOKS_MS[0] ?? 0),
  ]);
  await insertRows(tx, BEGUN, rows);
}

/** A write's name among all. */
export const nameOf = ({ queue, key, fence, at }: Omit<PendingWrite, 'detail'>): string =>
  [queue, key, fence, at].join(' ');

/** Forgets writes whose end is known: they were answered, or never sent. Returns the names of those that were pending. */
export async function endWrites(tx: Tx, writes: readonly PendingWrite[]): Promise<ReadonlySet<string>> {
  if (writes.length === 0) return new Set();
  const { rows } = await sql<Omit<PendingWrite, 'detail'>>`delete from pending_write where (queue, key, fence, at) in
    (select each.queue, each.key, cast(each.fence as bigint), cast(each.at as bigint)
      from ${eachRow(tx, NAME, writes)})
    returning queue, key, fence, at`.execute(tx);
  return new Set(rows.map(nameOf));
}

/** Whether a read that was begun at `readFrom` shows all that this write will ever do: a later equal value is not ours. */
export const isShown = ({ answeredAt }: PendingWrite, readFrom: number): boolean =>
  typeof answeredAt === 'number' && readFrom >= answeredAt + SHOWN_MS;

/** What became of a write that was begun. */
export interface EndedWrite {
  readonly write: PendingWrite;
  /** Whether its lane was still ours. */
  readonly isOurs: boolean;
  readonly end: 'answered' | 'unanswered' | 'unsent';
}

/**
 * After writes were made: forgets what was answered. What was sent under a lost lease may have replaced something newer:
 * its lane is marked, to be read and mended. Returns the keys of those.
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

/** Says of writes that their answers came, and has their lanes looked at as soon as the CRM must show them. */
async function rememberAnswers(tx: Tx, writes: readonly PendingWrite[], now: number): Promise<void> {
  if (writes.length === 0) return;
  await sql`update pending_write set answered_at = cast(${now} as bigint), check_at = cast(${now + SHOWN_MS} as bigint)
    where (queue, key, fence, at) in
      (select each.queue, each.key, cast(each.fence as bigint), cast(each.at as bigint)
        from ${eachRow(tx, NAME, writes)})`.execute(tx);
}

/** Keeps writes that no answer came for; of equal ones the last, so that an outage does not pile them up. */
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

/** The pending writes of these lanes, oldest first. */
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

/** Where the writes of a lane may arrive from now on. */
export interface Detour {
  readonly from: string;
  readonly to: string;
  readonly now: number;
}

/**
 * Gives the pending writes of a lane to another one, on whose record they may arrive. Those of a live claim stay: its
 * process hears how they end.
 */
export async function carryWrites(tx: Tx, queue: string, { from, to, now }: Detour): Promise<void> {
  const isOpen = sql`queue = ${queue} and key = ${from} and not exists (select 1 from lane
    where lane.queue = pending_write.queue and lane.key = pending_write.key and lane.fence = pending_write.fence
      and lane.lease_until > ${now})`;
  await sql`insert into pending_write (queue, key, fence, at, detail, check_at, answered_at)
    select queue, cast(${to} as text), fence, at, detail, check_at, answered_at from pending_write where ${isOpen}
    on conflict (queue, key, fence, at) do nothing`.execute(tx);
  await sql`delete from pending_write where ${isOpen}`.execute(tx);
}

/** Marks the lanes whose pending writes are due for a look; one step, true where more may be due. Parked ones stay. */
export async function checkPendingWrites(tx: Tx, now: number): Promise<boolean> {
  const due = await tx
    .selectFrom('pending_write')
    .selectAll()
    .where('check_at', '<=', now)
    .orderBy('check_at')
    .limit(STEP)
    .execute();
  for (const [queue, rows] of [...Map.groupBy(due, ({ queue }) => queue)].sort()) {
    const keys = rows.map(({ key }) => key);
    const parked = await tx
      .selectFrom('lane')
      .select('key')
      .where('queue', '=', queue)
      .where('key', 'in', each(tx, keys))
      .where('parked_at', 'is not', null)
      .execute();
    const left = new Set(parked.map(({ key }) => key));
    const looked = keys.filter((key) => !left.has(key));
    if (looked.length > 0) await mark(tx, queue, looked, now);
  }
  const next = due.map(({ queue, key, fence, at }) => {
    const later = LOOKS_MS.find((ms) => at + ms > now);
    return { queue, key, fence, at, detail: '', look: later === undefined ? null : at + later };
  });
  await endWrites(
    tx,
    next.filter(({ look }) => look === null),
  );
  const going = next.filter(({ look }) => look !== null);
  if (going.length > 0)
    await sql`update pending_write set check_at = cast(each.look as bigint)
      from ${eachRow(tx, [...NAME, 'look'], going)}
      where pending_write.queue = each.queue and pending_write.key = each.key
        and pending_write.fence = cast(each.fence as bigint) and pending_write.at = cast(each.at as bigint)`.execute(
      tx,
    );
  return due.length === STEP;
}
