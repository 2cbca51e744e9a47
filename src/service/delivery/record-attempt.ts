import { sql } from 'kysely';
import { type Claim, held, type Settlement, settleAll } from '../../runtime/lanes/lanes.ts';
import { each, eachRow, storable, storableJson } from '../../store/each.ts';
import { newestErasure, redactTexts } from '../../store/erasure/erasures.ts';
import { engineOf, type Tx } from '../../store/store.ts';
import type { Secrets } from '../keys/secrets.ts';
import { type Notice, queueNotice } from '../mail/queue.ts';
import { decideHealth, HEALTHY, type Health, type NoticeKind } from '../monitors/health.ts';
import { disable } from '../monitors/monitors.ts';
import { openAddress } from '../monitors/webhook-address.ts';
import { IS_HEAD } from './due.ts';
import { noticeOf } from './notice.ts';
import type { Posted } from './post.ts';

export interface AttemptResult {
  readonly seq: number;
  /** Undefined if nothing was sent: too early, or the change was deleted. */
  readonly posted?: Posted;
  readonly url: string | null;
  readonly number: number;
  readonly state: 'done' | 'due' | 'failed' | 'dropped';
  readonly nextAt: number;
  /** Whether an earlier schedule counted it: see {@link decideHealth}. */
  readonly repeated: boolean;
}

/** `if-idle`: the lane ends unless something is due; `yield`: other lanes go first. */
export type Ending = 'go-on' | 'if-idle' | 'over' | 'yield';

export interface Entry {
  readonly claim: Claim;
  readonly result?: AttemptResult;
  readonly ending: Ending;
  /** For `yield`: when the lane is due again; now by default. */
  readonly againAt?: number | undefined;
}

/**
 * `open`: go on; `settled`: the lane ended; `lost`: another process has the lane; `off`: the monitor is disabled or
 * removed; `moved`: its address changed since the post.
 */
export type RecordedAttempt = 'open' | 'settled' | 'lost' | 'off' | 'moved';

export interface RecordOptions {
  readonly now: number;
  readonly secrets: Secrets;
  readonly admin?: string | undefined;
  /** Of the times in these notices; Danish time if absent. */
  readonly timeZone?: string | undefined;
}

/** Stores entries in one transaction, at most one claim per lane. Ignores entries of a lost lane. */
export async function record(
  tx: Tx,
  entries: readonly Entry[],
  options: RecordOptions,
): Promise<ReadonlyMap<Entry, RecordedAttempt>> {
  const claims = new Map(entries.map(({ claim }) => [claim.key, claim]));
  // Lock monitors, then lanes, then deliveries, as disabling a monitor does.
  const monitors = await lockMonitors(tx, [...claims.keys()], options.secrets);
  const live = await held(tx, [...claims.values()]);
  const mine = entries.filter(({ claim }) => live.has(claim.key));
  const results = mine.flatMap(({ result }) => result ?? []);
  await writeDeliveries(tx, results, options.now);
  await writeAttempts(tx, results);
  const off = await writeHealth(tx, mine, monitors, options);
  const settled = await endLanes(tx, mine, options.now);
  return new Map(
    entries.map((entry) => {
      const { key } = entry.claim;
      if (!live.has(key)) return [entry, 'lost'];
      if (settled.has(key)) return [entry, 'settled'];
      const monitor = monitors.get(key);
      if (off.has(key) || monitor?.enabled !== 1) return [entry, 'off'];
      return [entry, entry.result !== undefined && entry.result.url !== monitor.url ? 'moved' : 'open'];
    }),
  );
}

type Locked = Awaited<ReturnType<typeof readMonitors>>[number];

const readMonitors = (tx: Tx, ids: readonly string[]) =>
  tx
    .selectFrom('monitor')
    .select(['id', 'name', 'url', 'emails', 'enabled', 'failing_since', 'failed_attempts', 'notices'])
    .where('id', 'in', each(tx, ids))
    .orderBy('id')
    .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate())
    .execute();

async function lockMonitors(tx: Tx, ids: readonly string[], secrets: Secrets): Promise<ReadonlyMap<string, Locked>> {
  const rows = await readMonitors(tx, ids);
  return new Map(rows.map((row) => [row.id, { ...row, url: openAddress(row.url, secrets) }]));
}

/** A held delivery that succeeded is done; a dropped one stays dropped. */
async function writeDeliveries(tx: Tx, results: readonly AttemptResult[], now: number): Promise<void> {
  const { done = [], rest = [] } = Object.groupBy(results, ({ state }) => (state === 'done' ? 'done' : 'rest'));
  // Nearly all succeed at the first attempt: a list of numbers takes half the time of a row for each.
  const alike = Map.groupBy(done, ({ number, posted }) => `${number} ${posted?.status}`);
  for (const group of alike.values()) await writeDone(tx, group, now);
  await writeRest(tx, rest, now);
}

async function writeDone(tx: Tx, results: readonly AttemptResult[], now: number): Promise<void> {
  const [first] = results;
  if (first === undefined) return;
  const { number, posted } = first;
  const seqs = results.map(({ seq }) => String(seq));
  await tx
    .updateTable('delivery')
    .set({ state: 'done', attempts: number, next_at: 0, status: posted?.status ?? null, error: null, ended_at: now })
    .where('seq', 'in', sql<number>`(select cast(value as bigint) from ${each(tx, seqs)} as list)`)
    .where('state', 'in', ['due', 'held'])
    .execute();
}

async function writeRest(tx: Tx, results: readonly AttemptResult[], now: number): Promise<void> {
  if (results.length === 0) return;
  const errors = await redactTexts(
    tx,
    results.map(({ posted }) => posted?.error ?? null),
  );
  const rows = results.map(({ seq, posted, number, state, nextAt }, at) => ({
    seq,
    state,
    number,
    next: Math.round(nextAt),
    status: posted?.status ?? null,
    error: errors[at] ?? (state === 'dropped' ? 'the change of this delivery is no longer stored' : null),
    ended: state === 'due' ? null : now,
  }));
  await sql`update delivery set state = each.state, attempts = cast(each.number as bigint),
      next_at = cast(each.next as bigint), status = cast(each.status as bigint),
      error = each.error, ended_at = cast(each.ended as bigint)
    from ${eachRow(tx, ['state', 'number', 'next', 'status', 'error', 'ended', 'seq'], rows)}
    where delivery.seq = cast(each.seq as bigint) and delivery.state = 'due'`.execute(tx);
}

/** Characters that are stored of the answer to a successful attempt, and of the headers of any. */
const DONE_ANSWER = 1_024;
const HEADERS = { failed: 4_096, done: 512 };

function storedHeaders(headers: Readonly<Record<string, string>>, most: number): string {
  const kept: [string, string][] = [];
  let left = most;
  for (const [name, value] of Object.entries(headers)) {
    left -= name.length + value.length;
    if (left >= 0) kept.push([name, value]);
  }
  return storableJson(Object.fromEntries(kept));
}

/** Some webhooks echo the request, and a person in it may have been erased during the post. */
async function withoutErasedIn<
  T extends {
    readonly at: number;
    readonly fault: string | null;
    readonly answer: string;
    readonly headers: string | null;
  },
>(tx: Tx, rows: readonly T[]): Promise<readonly (Omit<T, 'answer'> & { readonly answer: string | null })[]> {
  const erasedAt = await newestErasure(tx);
  if (erasedAt === undefined) return rows;
  const texts = await redactTexts(
    tx,
    rows.flatMap(({ at, fault, answer }) => [fault, at <= erasedAt ? null : answer]),
  );
  return rows.map((row, at) => ({
    ...row,
    fault: texts[at * 2] ?? null,
    answer: texts[at * 2 + 1] ?? null,
    headers: row.at <= erasedAt ? null : row.headers,
  }));
}

async function writeAttempts(tx: Tx, results: readonly AttemptResult[]): Promise<void> {
  const rows = results.flatMap(({ seq, number, state, posted }) => {
    if (posted === undefined) return [];
    const { at, took, status, error, answer } = posted;
    const fault = posted.fault === null ? error : `${posted.fault}: ${error}`;
    const isDone = state === 'done';
    const kept = storable(isDone ? answer.slice(0, DONE_ANSWER) : answer);
    const headers = posted.headers && storedHeaders(posted.headers, isDone ? HEADERS.done : HEADERS.failed);
    return [{ seq, number, at, took, status, fault, answer: kept, headers, done: isDone ? 1 : 0 }];
  });
  if (rows.length === 0) return;
  const kept = await withoutErasedIn(tx, rows);
  await tx
    .insertInto('attempt')
    .columns(['delivery', 'at', 'took', 'number', 'status', 'fault', 'answer', 'headers', 'done'])
    .expression(
      sql`select cast(each.seq as bigint), cast(each.at as bigint), cast(each.took as bigint),
        cast(each.number as bigint), cast(each.status as bigint), each.fault, each.answer, each.headers, cast(each.done as bigint)
        from ${eachRow(tx, ['seq', 'at', 'took', 'number', 'status', 'fault', 'answer', 'headers', 'done'], kept)}
        where exists (select 1 from delivery where delivery.seq = cast(each.seq as bigint))`,
    )
    .execute();
}

async function writeHealth(
  tx: Tx,
  entries: readonly Entry[],
  monitors: ReadonlyMap<string, Locked>,
  options: RecordOptions,
): Promise<ReadonlySet<string>> {
  const { after, off, notices } = decideHealths(entries, monitors);
  await writeHealths(tx, after);
  for (const [id, reason] of off) await disable(tx, id, reason, options.now);
  for (const due of notices) await queueNotice(tx, noticeFor(due, options), options.now);
  return new Set(off.keys());
}

interface DueNotice {
  readonly monitor: Locked;
  readonly kind: NoticeKind;
  readonly health: Health;
  readonly error: string | null;
}

function decideHealths(entries: readonly Entry[], monitors: ReadonlyMap<string, Locked>) {
  const after = new Map<string, Health>();
  const off = new Map<string, 'failing' | 'gone'>();
  const notices: DueNotice[] = [];
  for (const { claim, result } of entries) {
    const monitor = monitors.get(claim.key);
    // An answer of a previous address says nothing about this one.
    const counts = result?.url === monitor?.url;
    if (!counts || result?.posted === undefined || monitor?.enabled !== 1 || off.has(monitor.id)) continue;
    const { outcome, at, error } = result.posted;
    const before = after.get(monitor.id) ?? healthOf(monitor);
    if (outcome.kind === 'done' && !outcome.disable) {
      if (before.failingSince !== null) after.set(monitor.id, HEALTHY);
      continue;
    }
    const failed = result.state === 'failed';
    const decision = decideHealth(before, { at, failed, gone: outcome.disable, repeated: result.repeated });
    after.set(monitor.id, decision.health);
    if (decision.disable !== undefined) off.set(monitor.id, decision.disable);
    if (decision.notice !== undefined) notices.push({ monitor, kind: decision.notice, health: decision.health, error });
  }
  return { after, off, notices };
}

function noticeFor({ monitor, kind, health, error }: DueNotice, { admin, timeZone, now }: RecordOptions): Notice {
  const { id, name, url } = monitor;
  const emails: readonly string[] = JSON.parse(monitor.emails);
  const recipients = emails.length > 0 || admin === undefined ? emails : [admin];
  const { failingSince, failedAttempts: attempts } = health;
  const trouble = { monitor: id, name, url, kind, recipients, error, failingSince: failingSince ?? now, attempts };
  return noticeOf(trouble, timeZone);
}

const healthOf = (row: Locked): Health => ({
  failingSince: row.failing_since,
  failedAttempts: row.failed_attempts,
  notices: row.notices,
});

async function writeHealths(tx: Tx, healths: ReadonlyMap<string, Health>): Promise<void> {
  if (healths.size === 0) return;
  const rows = [...healths].map(([id, { failingSince, failedAttempts, notices }]) => {
    return { id, since: failingSince, attempts: failedAttempts, notices };
  });
  await sql`update monitor set failing_since = cast(each.since as bigint),
      failed_attempts = cast(each.attempts as bigint), notices = cast(each.notices as bigint)
    from ${eachRow(tx, ['since', 'attempts', 'notices', 'id'], rows)} where monitor.id = each.id`.execute(tx);
}

/** Ends or reschedules the lanes of finished runs, and returns their keys. */
async function endLanes(tx: Tx, entries: readonly Entry[], now: number): Promise<ReadonlySet<string>> {
  const ending = entries.filter((entry) => entry.ending !== 'go-on');
  const idle = ending.filter((entry) => entry.ending === 'if-idle').map(({ claim }) => claim.key);
  const due = await dueOf(tx, idle, now);
  const settlements = ending.flatMap(({ claim, ending, againAt = now }): (readonly [Claim, Settlement])[] => {
    const { ready = null, later = null } = due.get(claim.key) ?? {};
    if (ending === 'yield') return [[claim, { kind: 'again', at: againAt, free: true }]];
    if (ready !== null) return [];
    return [[claim, later === null ? { kind: 'done' } : { kind: 'again', at: later, fresh: true }]];
  });
  return settlements.length === 0 ? new Set() : settleAll(tx, settlements);
}

interface Due {
  readonly monitor: string;
  readonly ready: number | null;
  readonly later: number | null;
}

async function dueOf(tx: Tx, monitors: readonly string[], now: number): Promise<ReadonlyMap<string, Due>> {
  if (monitors.length === 0) return new Map();
  const at = sql`cast(${now} as bigint)`;
  const { rows } = await sql<Due>`
    select value as monitor,
      (select seq from delivery as head where head.monitor = value and head.state = 'due' and head.next_at <= ${at}
        and ${IS_HEAD} limit 1) as ready,
      (select min(next_at) from delivery where delivery.monitor = value and state = 'due' and next_at > ${at}) as later
    from ${each(tx, monitors)} as list`.execute(tx);
  return new Map(rows.map((row) => [row.monitor, row]));
}
