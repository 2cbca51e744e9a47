/**
 * The slots of one call budget, shared by all processes on the store. Its row holds the time of the next free slot (the
 * generic cell rate algorithm without a burst). A process moves that time before it calls, so a crash loses slots and
 * never uses one twice.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Store, Tx } from '../../store/store.ts';

/** At most `calls` in any `perMs`. */
export interface Budget {
  readonly calls: number;
  readonly perMs: number;
}

export interface CallSlots {
  readonly key: string;
  readonly perMs: number;
  readonly interval: number;
  /** How late a slot may be used, in ms: any later, and the following calls could exceed the limit. */
  readonly maxLatenessMs: number;
  /** How far ahead slots can be reserved, in ms: a slot beyond it dates from before the clock was set back. */
  readonly mostAheadMs: number;
  readonly pairedMs?: number;
}

/** Budgets with closer slots need no pairs: the next slot comes soon. */
const PAIRED_FROM_MS = 60;
/** How long the second call of a pair may take to follow. */
const FOLLOWS_MS = 250;

export const RESERVE_AHEAD_MS = 500;

export const MOST_LEAD_MS = 10_000;

/** Processes that may wait for the slots of one account: a few daemons and commands. */
const MOST_PROCESSES = 16;

/**
 * Computes the slots of a budget that uses `share` of its limit. With pairs, the first call waits for the slot of the
 * second and so may be late by one interval, and so may the second: the window holds fewer calls by as many as fit into
 * that time.
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
    // The whole margin is perMs / used - perMs: half for us, half for the way to the CRM.
    maxLatenessMs: (perMs / used - perMs) / 2,
    // Two windows may be skipped, and each process may hold two slots after them.
    mostAheadMs: 2 * perMs + RESERVE_AHEAD_MS + MOST_LEAD_MS + MOST_PROCESSES * 2 * apart,
  };
}

const FREE = { blocked_until: 0, reason: null, blocked_since: null, fault: null } as const;

/** Reserves `count` consecutive slots, none before `free`, and returns the time of the first. */
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
          // The clock was set back: waiting one whole window is safe.
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
