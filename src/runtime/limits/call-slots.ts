/**
 * The slots of one call budget, shared by all processes on the store: its row holds the time of the next free one (the
 * generic cell rate algorithm without a burst). A process moves that time on before it calls, so that a crash loses slots
 * and never spends one twice.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Store, Tx } from '../../store/store.ts';

/** At most `calls` in any `perMs`. */
export interface Budget {
  readonly calls: number;
  readonly perMs: number;
}

/** A budget's slots: how far apart they are, and how late one may be used. */
export interface CallSlots {
  /** The row of the budget. */
  readonly key: string;
  readonly perMs: number;
  readonly interval: number;
  /** How late a slot may be used, in ms: later, it would crowd the following ones over the limit. */
  readonly maxLatenessMs: number;
  /** The furthest ahead that slots are reserved, in ms: a slot beyond it was reserved before the clock was set back. */
  readonly mostAheadMs: number;
  /** How late the second of two slots that were taken together may be used; absent where none are. */
  readonly pairedMs?: number;
}

/** A budget whose slots are nearer than this to each other needs no pairs: whoever goes first soon has the next one. */
const PAIRED_FROM_MS = 60;
/** How long the call that comes second may take to follow. */
const FOLLOWS_MS = 250;

/** How far ahead a process reserves slots, in ms. */
export const RESERVE_AHEAD_MS = 500;

/** How far ahead a process reserves slots at most, in ms, while the store is slow. */
export const MOST_LEAD_MS = 10_000;

/** How many processes may wait for the slots of one account: a few daemons, and commands that people run. */
const MOST_PROCESSES = 16;

/**
 * The slots of a budget of which `share` is used. In pairs, the first call of two waits for the slot of the second: it may
 * be late by that much, and so may the second be; as many calls fewer are made in a window as fit into that time.
 */
export function slotsOf(key: string, { calls, perMs }: Budget, share: number, inPairs = false): CallSlots {
  const used = Math.min(share, 0.99);
  const apart = perMs / (calls * used);
  if (inPairs && apart >= PAIRED_FROM_MS && calls > 1) {
    const spare = Math.ceil(Math.max(apart, FOLLOWS_MS) / apart);
    const slots = slotsOf(key, { calls: Math.max(1, calls - spare), perMs }, share);
    return { ...slots, pairedMs: Math.max(slots.interval, FOLLOWS_MS) };
  }
  return {
    key,
    perMs,
    interval: apart,
    // The whole margin is perMs / used - perMs: half of it for us, half for the way to the CRM.
    maxLatenessMs: (perMs / used - perMs) / 2,
    // Two windows may be skipped, and each process may hold two slots behind them.
    mostAheadMs: 2 * perMs + RESERVE_AHEAD_MS + MOST_LEAD_MS + MOST_PROCESSES * 2 * apart,
  };
}

/** The columns of a row that blocks nobody. */
const FREE = { blocked_until: 0, reason: null, blocked_since: null, fault: null } as const;

/** Takes `count` slots in a row out of the row, none before `free`, and returns the time of the first. */
export async function reserveSlots(
  store: Store,
  { key, perMs, interval, mostAheadMs }: CallSlots,
  count: number,
  free: () => number,
): Promise<number> {
  const length = count * interval;
  const take = (tx: Tx) => {
    const from = free();
    return tx
      .insertInto('rate_limit')
      .values({ ...FREE, key, next_at: from + length })
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet({
          // The clock was set back. One whole window is certainly safe.
          next_at: sql`case when rate_limit.next_at > ${float(from + mostAheadMs)} then ${float(from + perMs + length)}
            when rate_limit.next_at > ${float(from)} then rate_limit.next_at + ${float(length)} else ${float(from + length)} end`,
        }),
      )
      .returning('next_at')
      .executeTakeFirstOrThrow();
  };
  const { next_at } = await store.write(take, { ephemeral: true });
  return next_at - length;
}

/** Leaves the slots before `until` unused, in every process. */
export async function skipSlots(store: Store, { key }: CallSlots, until: number): Promise<void> {
  await store.write((tx) =>
    tx
      .insertInto('rate_limit')
      .values({ ...FREE, key, next_at: until })
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet({ next_at: until }).where('rate_limit.next_at', '<', until),
      )
      .execute(),
  );
}

function float(value: number): RawBuilder<number> {
  return sql`cast(${value} as double precision)`;
}
