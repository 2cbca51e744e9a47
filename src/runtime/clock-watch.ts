/**
 * Detects a clock that is earlier than the last time in the store: somebody set it back, or it was ahead before.
 * Otherwise everything that waits for a time would wait longer by the difference, for no visible reason.
 */
import { type RawBuilder, sql } from 'kysely';
import { readValue, writeValue } from '../store/kv.ts';
import type { Db, Store, Tx } from '../store/store.ts';
import { FIRST_DAEMON_TOKEN } from './lanes/fencing-token.ts';

const CLOCK = 'daemons:clock';
/** More than two machines, or one that is being corrected, may differ. */
const TOLERANCE_MS = 5_000;

const WAITS = [
  ['lane', 'due_at'],
  ['lane', 'again_at'],
  ['pending_write', 'check_at'],
  ['rate_limit', 'blocked_until'],
  ['property_state', 'refused_until'],
  ['delivery', 'next_at'],
  ['monitor', 'next_post_at'],
  ['filing', 'retry_at'],
  ['unsubscribed', 'retry_at'],
] as const;

export const recordClock = (tx: Tx, now: number): Promise<void> => writeValue(tx, CLOCK, String(now), now);

interface Ahead {
  readonly last: number;
  readonly ms: number;
}

/** How far the store's last time is ahead of `now`; undefined within the tolerance. */
export async function aheadOf(db: Db, now: number): Promise<Ahead | undefined> {
  const known = Number((await readValue(db, CLOCK)) ?? 0);
  const last = Math.max(known, await lastEventIn(db));
  return last - now > TOLERANCE_MS ? { last, ms: last - now } : undefined;
}

async function lastEventIn(db: Db): Promise<number> {
  const { rows } = await sql<{ at: number | null }>`select max(each.at) as at from (
      select received_at as at from (select received_at from arrival order by seq desc limit 1) as arrived
      union all select received_at from (select received_at from receipt order by seq desc limit 1) as received
      union all select at from (select at from history order by id desc limit 1) as decided
    ) as each`.execute(db);
  return rows[0]?.at ?? 0;
}

export interface ClockWatchOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly log: { warn(details: object, message: string): void };
  readonly beatMs: number;
}

/**
 * Returns a check for a daemon to run before each time that it records. If the clock went back and no other daemon runs
 * on the store, the check moves all waits back by as much.
 */
export function createClockWatch({ store, now, log, beatMs }: ClockWatchOptions): () => Promise<void> {
  let isWarned = false;
  return async () => {
    const at = now();
    const ahead = await aheadOf(store.db, at);
    if (ahead === undefined) isWarned = false;
    if (ahead === undefined || isWarned) return;
    isWarned = true;
    const details = { lastTime: new Date(ahead.last).toISOString(), aheadSeconds: Math.round(ahead.ms / 1_000) };
    const others = (await store.livingDaemons()).filter((each) => each !== store.holder);
    if (others.length > 0) {
      log.warn(details, "this machine's clock is behind that of another daemon on the store: run NTP on both machines");
      return;
    }
    const moved = await moveWaits(store, { ms: ahead.ms, now: at, beatMs });
    log.warn(
      { ...details, moved },
      "this machine's clock is earlier than the store's last time: moving all due times back",
    );
  };
}

interface SetBack {
  readonly ms: number;
  readonly now: number;
  readonly beatMs: number;
}

async function moveWaits(store: Store, { ms, now, beatMs }: SetBack): Promise<number> {
  let moved = 0;
  const move = async (table: string, column: string, by: number): Promise<void> => {
    const at = sql.ref(column);
    const { numAffectedRows } = await store.write((tx) =>
      sql`update ${sql.table(table)} set ${at} = ${earlier(column, by, now)} where ${at} > ${now}`.execute(tx),
    );
    moved += Number(numAffectedRows ?? 0);
  };
  // The last time may be one beat older than the last mark.
  for (const [table, column] of WAITS) await move(table, column, ms + beatMs);
  // Calls already made count towards their limit.
  await move('rate_limit', 'next_at', ms);
  // A living process renews its leases, and the leases of dead daemons have ended; this shortens those of dead
  // commands.
  await store.write((tx) =>
    tx
      .updateTable('lane')
      .set({ lease_until: earlier('lease_until', ms, now) })
      .where('lease_until', '>', now)
      .where('fence', '<', FIRST_DAEMON_TOKEN)
      .execute(),
  );
  await store.write((tx) => tx.deleteFrom('daemon').where('seen_at', '>', now).execute());
  return moved;
}

const earlier = (column: string, by: number, now: number): RawBuilder<number> => {
  const at = sql.ref<number>(column);
  return sql`case when ${at} - ${by} > ${now} then ${at} - ${by} else cast(${now} as bigint) end`;
};
