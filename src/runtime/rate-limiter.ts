/**
 * The pace of one account: calls are spaced evenly over a budget's window, by all processes on the store together.
 *
 * Each budget's row holds the time of its next free slot (the generic cell rate algorithm without a burst). A process
 * moves that time on before it calls, so that a crash loses slots and never spends one twice.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Store } from '../store/store.ts';
import { type BlockFault, EVERY_BUDGET, SAME_TROUBLE_MS } from './blocks.ts';
import { pause } from './pause.ts';

/** At most `calls` in any `perMs`. */
export interface Budget {
  readonly calls: number;
  readonly perMs: number;
}

/** Where in the queue of this process a call waits: behind the others, or in front of them. */
export type CallOrder = 'first' | 'last';

export interface RateLimiter {
  /** Resolves when one call may be made. Rejects where the signal aborts, the store cannot be written, or with {@link PausedError}. */
  acquire(budget: string, signal: AbortSignal, order?: CallOrder): Promise<void>;
  /** Nobody may call before `untilMs`, in any process, also after a restart. A shorter block does not end a longer one. */
  block(untilMs: number, reason: string, fault?: BlockFault): Promise<void>;
  /** The block that holds now, if one does. */
  blockedUntil(): Promise<{ until: number; reason: string | null } | undefined>;
  /** Leaves the budget's slots before `untilMs` unused: few calls remain. At most two windows ahead. */
  slow(budget: string, untilMs: number): Promise<void>;
  /** Ends a block. */
  clear(): Promise<void>;
}

/** The account is paused for longer than its callers' patience lasts. */
export class PausedError extends Error {
  override readonly name = 'PausedError';
  readonly until: number;

  constructor({ until, reason }: { readonly until: number; readonly reason: string | null }) {
    super(reason ?? 'the account is paused');
    this.until = until;
  }
}

const FREE = { blocked_until: 0, reason: null, blocked_since: null, fault: null } as const;

export interface RateLimiterOptions {
  readonly store: Store;
  /** The account, in the store: the provider's name. */
  readonly key: string;
  readonly budgets: Readonly<Record<string, Budget>>;
  readonly now: () => number;
  /** How much of the limit to use. The rest absorbs late timers and the network's jitter. Default 0.98. */
  readonly share?: number;
  /** How long a block may keep a caller waiting, in ms: what it read before grows old. For ever where absent. */
  readonly patienceMs?: number;
}

/** How far ahead a process reserves slots, and how old its knowledge of a block may be: others learn of one within this. */
const AHEAD_MS = 500;
const RECHECK_MS = 250;

interface Lane {
  readonly key: string;
  readonly perMs: number;
  readonly interval: number;
  /** How late a slot may be used, in ms: later, it would crowd the following ones over the limit. */
  readonly slack: number;
  readonly waiters: { grant(): void; fail(error: unknown): void }[];
  /** Ends the wait for a slot that nobody wants any more. */
  idle: AbortController;
  pumping: boolean;
  /** How far from now to reserve, where the store is too slow to reserve for now. */
  lead: number;
}

export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { store, key, now, share = 0.98, patienceMs = Number.POSITIVE_INFINITY } = options;
  const all = `${key}${EVERY_BUDGET}`;
  const lanes = new Map(
    Object.entries(options.budgets).map(([name, budget]) => [name, lane(`${key}/${name}`, budget, share)]),
  );
  let block: { until: number; reason: string | null } = { until: 0, reason: null };
  let checkedAt = Number.NEGATIVE_INFINITY;

  function find(budget: string): Lane {
    const found = lanes.get(budget);
    if (found === undefined) throw new Error(`${key} has no call budget named ${budget}`);
    return found;
  }

  async function blocked(): Promise<boolean> {
    if (Math.abs(now() - checkedAt) > RECHECK_MS) {
      checkedAt = now();
      const row = await store.db.selectFrom('rate_limit').selectAll().where('key', '=', all).executeTakeFirst();
      block = { until: row?.blocked_until ?? 0, reason: row?.reason ?? null };
    }
    return block.until > now();
  }

  async function pump(lane: Lane): Promise<void> {
    try {
      while (lane.waiters.length > 0) {
        if (!(await blocked())) await spend(lane);
        else if (block.until - now() > patienceMs) throw new PausedError(block);
        else await pause(Math.min(block.until - now(), RECHECK_MS), lane.idle.signal);
      }
    } catch (error) {
      for (const waiter of lane.waiters.splice(0)) waiter.fail(error);
    } finally {
      lane.pumping = false;
    }
  }

  /** Reserves slots for those who wait now and lets each go at its time. Slots that are not used are lost. */
  async function spend(lane: Lane): Promise<void> {
    const { interval, waiters } = lane;
    const count = Math.max(1, Math.min(waiters.length, Math.floor(AHEAD_MS / interval)));
    const first = await reserve(store, lane, count, now);
    for (let slot = first; slot < first + count * interval - interval / 2; slot += interval) {
      if (!(await isReached(lane, slot)) || waiters.length === 0 || (await blocked())) return;
      if (now() - slot <= lane.slack) waiters.shift()?.grant();
    }
  }

  /** Waits for a slot while somebody wants it. False where the clock was set back: then the reservation means nothing. */
  async function isReached({ waiters, perMs, idle }: Lane, slot: number): Promise<boolean> {
    while (now() < slot && waiters.length > 0) {
      if (slot - now() > 2 * perMs + AHEAD_MS) return false;
      await pause(slot - now(), idle.signal);
    }
    return true;
  }

  return {
    acquire(budget, signal, order = 'last') {
      const lane = find(budget);
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const leave = () => {
          lane.waiters.splice(lane.waiters.indexOf(waiter), 1);
          if (lane.waiters.length === 0) lane.idle.abort();
          reject(signal.reason);
        };
        const waiter = {
          grant() {
            signal.removeEventListener('abort', leave);
            resolve();
          },
          fail(error: unknown) {
            signal.removeEventListener('abort', leave);
            reject(error);
          },
        };
        signal.addEventListener('abort', leave, { once: true });
        if (lane.idle.signal.aborted) lane.idle = new AbortController();
        if (order === 'first') lane.waiters.unshift(waiter);
        else lane.waiters.push(waiter);
        if (lane.pumping) return;
        lane.pumping = true;
        void pump(lane);
      });
    },
    async block(until, reason, fault = 'rate') {
      if (until > block.until) block = { until, reason };
      const since = Math.floor(now());
      await store.write((tx) =>
        tx
          .insertInto('rate_limit')
          .values({ key: all, next_at: 0, blocked_until: Math.ceil(until), reason, fault, blocked_since: since })
          .onConflict((conflict) =>
            conflict
              .column('key')
              .doUpdateSet((row) => ({
                fault: row.ref('excluded.fault'),
                blocked_since: sql<number>`case when rate_limit.blocked_until > ${since - SAME_TROUBLE_MS}
                  then coalesce(rate_limit.blocked_since, ${since}) else ${since} end`,
                blocked_until: row.ref('excluded.blocked_until'),
                reason: row.ref('excluded.reason'),
              }))
              .whereRef('rate_limit.blocked_until', '<', 'excluded.blocked_until'),
          )
          .execute(),
      );
    },
    async blockedUntil() {
      checkedAt = Number.NEGATIVE_INFINITY;
      return (await blocked()) ? block : undefined;
    },
    async slow(budget, until) {
      const lane = find(budget);
      const next = Math.min(until, now() + 2 * lane.perMs);
      await store.write((tx) =>
        tx
          .insertInto('rate_limit')
          .values({ ...FREE, key: lane.key, next_at: next })
          .onConflict((conflict) =>
            conflict.column('key').doUpdateSet({ next_at: next }).where('rate_limit.next_at', '<', next),
          )
          .execute(),
      );
    },
    async clear() {
      await store.write((tx) => tx.deleteFrom('rate_limit').where('key', '=', all).execute());
      checkedAt = Number.NEGATIVE_INFINITY;
    },
  };
}

function lane(key: string, { calls, perMs }: Budget, share: number): Lane {
  const used = Math.min(share, 0.99);
  return {
    key,
    perMs,
    interval: perMs / (calls * used),
    // The whole margin is perMs / used - perMs: half of it for us, half for the way to the CRM.
    slack: (perMs / used - perMs) / 2,
    waiters: [],
    idle: new AbortController(),
    pumping: false,
    lead: 0,
  };
}

/** Takes `count` slots in a row out of the row, and returns the time of the first. */
async function reserve(store: Store, lane: Lane, count: number, now: () => number): Promise<number> {
  const length = count * lane.interval;
  let asked = 0;
  const next = await store.write(async (tx) => {
    asked = now();
    const free = asked + lane.lead;
    const row = await tx
      .insertInto('rate_limit')
      .values({ ...FREE, key: lane.key, next_at: free + length })
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet({
          // Further ahead than anyone reserves: the clock was set back. One whole window is certainly safe.
          next_at: sql`case when rate_limit.next_at > ${float(free + 2 * lane.perMs + AHEAD_MS)} then ${float(free + lane.perMs + length)}
            when rate_limit.next_at > ${float(free)} then rate_limit.next_at + ${float(length)} else ${float(free + length)} end`,
        }),
      )
      .returning('next_at')
      .executeTakeFirstOrThrow();
    return row.next_at;
  });
  // A store slower than the slack would make every slot too late to use: reserve ahead while it lasts.
  const took = now() - asked;
  lane.lead = took > lane.slack / 2 ? 2 * took : 0;
  return next - length;
}

function float(value: number): RawBuilder<number> {
  return sql`cast(${value} as double precision)`;
}
