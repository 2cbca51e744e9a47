/**
 * The rate limiter of one account: all processes on the store together space its calls evenly over a budget's window.
 */
import { findCause } from '../../protocol/text/error-text.ts';
import type { Store } from '../../store/store.ts';
import type { BlockFault } from './blocks.ts';
import {
  type Budget,
  type CallSlots,
  MOST_LEAD_MS,
  RESERVE_AHEAD_MS,
  reserveSlots,
  skipSlots,
  slotsOf,
} from './call-slots.ts';
import { type Block, type KnownBlock, openBlock, RECHECK_MS } from './known-block.ts';
import { pause } from './pause.ts';

export type CallOrder = 'first' | 'last';

export interface RateLimiter {
  /**
   * Resolves when one call may be made. Rejects if the signal aborts, the store cannot be written, or with {@link
   * PausedError}.
   */
  acquire(budget: string, signal: AbortSignal, order?: CallOrder): Promise<void>;
  /**
   * Like `acquire`, for a call that another one follows at once: takes both slots if slots are far apart, and returns
   * the second. Undefined if slots are close.
   */
  acquirePair(budget: string, signal: AbortSignal): Promise<SecondSlot | undefined>;
  /**
   * Blocks all calls before `untilMs`, in every process and across restarts. A shorter block does not end a longer one.
   */
  block(untilMs: number, reason: string, fault?: BlockFault): Promise<void>;
  blockedUntil(): Promise<Block | undefined>;
  /** Skips the budget's slots before `untilMs`, because few calls remain; at most two windows ahead. */
  slow(budget: string, untilMs: number): Promise<void>;
  clear(): Promise<void>;
}

export interface SecondSlot {
  /** Uses the slot; false if it was used, is too old, or the account is blocked. */
  use(): Promise<boolean>;
  /** Gives an unused slot to a waiting call. */
  release(): void;
}

export class PausedError extends Error {
  override readonly name = 'PausedError';
  readonly until: number;

  constructor({ until, reason }: Block) {
    super(reason ?? 'the account is paused');
    this.until = until;
  }
}

/** Finds a {@link PausedError} in an error or its causes: then the account itself was not called. */
export const pausedErrorIn = (error: unknown): PausedError | undefined => findCause(error, PausedError);

export interface RateLimiterOptions {
  readonly store: Store;
  readonly key: string;
  readonly budgets: Readonly<Record<string, Budget>>;
  readonly now: () => number;
  /** How much of the limit to use; the rest absorbs late timers and network jitter. 0.98 by default. */
  readonly share?: number;
  /** The longest delay of a caller by a block, after which its reads are too old; unlimited by default. */
  readonly patienceMs?: number;
  readonly paired?: string;
}

interface BudgetQueue {
  readonly slots: CallSlots;
  readonly waiters: Waiter[];
  /** Ends the wait for a slot after all waiters left. */
  idle: AbortController;
  pumping: boolean;
  lead: number;
}

interface Waiter {
  readonly wanted: number;
  /** `slot` is the time of its last slot. */
  grant(slot: number): void;
  fail(error: unknown): void;
}

export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { store, key, now, share = 0.98, patienceMs = Number.POSITIVE_INFINITY } = options;
  const lanes = new Map(
    Object.entries(options.budgets).map(([name, budget]) => [
      name,
      openQueue(slotsOf(`${key}/${name}`, budget, share, name === options.paired)),
    ]),
  );
  const block = openBlock(store, key, now);

  function find(budget: string): BudgetQueue {
    const found = lanes.get(budget);
    if (found === undefined) throw new Error(`${key} has no call budget named ${budget}`);
    return found;
  }

  async function pump(queue: BudgetQueue): Promise<void> {
    try {
      while (queue.waiters.length > 0) {
        const blocked = await block.current();
        if (blocked === undefined) await spend(queue);
        else if (blocked.until - now() > patienceMs) throw new PausedError(blocked);
        else await pause(Math.min(blocked.until - now(), RECHECK_MS), queue.idle.signal);
      }
    } catch (error) {
      for (const waiter of queue.waiters.splice(0)) waiter.fail(error);
    } finally {
      queue.pumping = false;
    }
  }

  /** Reserves slots for the current waiters and grants each at its time. Unused slots are lost. */
  async function spend(queue: BudgetQueue): Promise<void> {
    const { waiters } = queue;
    const { interval, maxLatenessMs } = queue.slots;
    const count = slotsWanted(waiters, RESERVE_AHEAD_MS / interval);
    const first = await reserve(store, queue, count, now);
    // A loop by count, not by time: with an unbounded budget, adding an interval does not change the number that holds
    // today's time.
    for (let taken = 0; taken < count; ) {
      const next = Math.min(waiters[0]?.wanted ?? 1, count - taken);
      taken += next;
      const slot = first + (taken - 1) * interval;
      if (!(await isReached(queue, slot, now)) || waiters.length === 0 || (await block.current()) !== undefined) return;
      if (now() - slot <= maxLatenessMs) grant(waiters, next, slot);
    }
  }

  function start(queue: BudgetQueue): void {
    if (queue.pumping || queue.waiters.length === 0) return;
    queue.pumping = true;
    void pump(queue);
  }

  return {
    async acquire(budget, signal, order = 'last') {
      const queue = find(budget);
      const granted = join(queue, signal, { order });
      start(queue);
      await granted;
    },
    async acquirePair(budget, signal) {
      const queue = find(budget);
      const { pairedMs } = queue.slots;
      const granted = join(queue, signal, { order: 'last', wanted: pairedMs === undefined ? 1 : 2 });
      start(queue);
      const slot = await granted;
      return pairedMs === undefined ? undefined : secondSlot(queue, block, { until: slot + pairedMs, now });
    },
    block: (until, reason, fault = 'rate') => block.extend({ until, reason }, fault),
    blockedUntil() {
      block.forget();
      return block.current();
    },
    async slow(budget, until) {
      const { slots } = find(budget);
      await skipSlots(store, slots, Math.min(until, now() + 2 * slots.perMs));
    },
    clear: () => block.end(),
  };
}

const openQueue = (slots: CallSlots): BudgetQueue => ({
  slots,
  waiters: [],
  idle: new AbortController(),
  pumping: false,
  lead: 0,
});

function secondSlot(
  { waiters }: BudgetQueue,
  block: Pick<KnownBlock, 'current'>,
  { until, now }: { readonly until: number; readonly now: () => number },
): SecondSlot {
  let isSpent = false;
  const isLeft = () => !isSpent && now() <= until;
  return {
    async use() {
      if ((await block.current()) !== undefined || !isLeft()) return false;
      isSpent = true;
      return true;
    },
    release() {
      if (isLeft()) grant(waiters, 1, now());
      isSpent = true;
    },
  };
}

/** Number of slots that the first waiters want together: at most `most`, but enough for the first. */
function slotsWanted(waiters: readonly Waiter[], most: number): number {
  let sum = 0;
  for (const { wanted } of waiters) {
    if (sum > 0 && sum + wanted > most) break;
    sum += wanted;
  }
  return Math.max(1, sum);
}

function grant(waiters: Waiter[], slots: number, slot: number): void {
  for (let left = slots - (waiters[0]?.wanted ?? 0); left >= 0 && waiters.length > 0; left -= waiters[0]?.wanted ?? 0)
    waiters.shift()?.grant(slot);
}

/**
 * Waits until slots are granted and returns the time of the last one. If the signal aborts, leaves the queue and
 * rejects.
 */
function join(
  queue: BudgetQueue,
  signal: AbortSignal,
  { order, wanted = 1 }: { readonly order: CallOrder; readonly wanted?: number },
): Promise<number> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const leave = () => {
      queue.waiters.splice(queue.waiters.indexOf(waiter), 1);
      if (queue.waiters.length === 0) queue.idle.abort();
      reject(signal.reason);
    };
    const waiter: Waiter = {
      wanted,
      grant(slot) {
        signal.removeEventListener('abort', leave);
        resolve(slot);
      },
      fail(error) {
        signal.removeEventListener('abort', leave);
        reject(error);
      },
    };
    signal.addEventListener('abort', leave, { once: true });
    if (queue.idle.signal.aborted) queue.idle = new AbortController();
    if (order === 'first') queue.waiters.unshift(waiter);
    else queue.waiters.push(waiter);
  });
}

/** Waits for a slot while somebody wants it. False if the clock was set back, which voids the reservation. */
async function isReached({ waiters, slots, idle }: BudgetQueue, slot: number, now: () => number): Promise<boolean> {
  while (now() < slot && waiters.length > 0) {
    if (slot - now() > slots.mostAheadMs) return false;
    await pause(slot - now(), idle.signal);
  }
  return true;
}

async function reserve(store: Store, queue: BudgetQueue, count: number, now: () => number): Promise<number> {
  let asked = 0;
  const first = await reserveSlots(store, queue.slots, count, () => {
    asked = now();
    return asked + queue.lead;
  });
  // Every slot would be too late with a store this slow: reserve ahead until it recovers.
  const took = now() - asked;
  queue.lead = took > queue.slots.maxLatenessMs / 2 ? Math.min(2 * took, MOST_LEAD_MS) : 0;
  return first;
}
