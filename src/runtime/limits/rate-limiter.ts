/** The pace of one account: calls are spaced evenly over a budget's window, by all processes on the store together. */
import { findCause } from '../../protocol/text/error-text.ts';
import type { Store } from '../../store/store.ts';
import { pause } from '../pause.ts';
import type { BlockFault } from './blocks.ts';
import { type Budget, type CallSlots, RESERVE_AHEAD_MS, reserveSlots, skipSlots, slotsOf } from './call-slots.ts';
import { type Block, openBlock, RECHECK_MS } from './known-block.ts';

/** Where in the queue of this process a call waits: behind the others, or in front of them. */
export type CallOrder = 'first' | 'last';

export interface RateLimiter {
  /** Resolves when one call may be made. Rejects where the signal aborts, the store cannot be written, or with {@link PausedError}. */
  acquire(budget: string, signal: AbortSignal, order?: CallOrder): Promise<void>;
  /** Nobody may call before `untilMs`, in any process, also after a restart. A shorter block does not end a longer one. */
  block(untilMs: number, reason: string, fault?: BlockFault): Promise<void>;
  /** The block that holds now, if one does. */
  blockedUntil(): Promise<Block | undefined>;
  /** Leaves the budget's slots before `untilMs` unused: few calls remain. At most two windows ahead. */
  slow(budget: string, untilMs: number): Promise<void>;
  /** Ends a block. */
  clear(): Promise<void>;
}

/** The account is paused for longer than its callers' patience lasts. */
export class PausedError extends Error {
  override readonly name = 'PausedError';
  readonly until: number;

  constructor({ until, reason }: Block) {
    super(reason ?? 'the account is paused');
    this.until = until;
  }
}

/** The refusal by a standing block in an error or its causes: the account itself has answered nothing then. */
export const pausedErrorIn = (error: unknown): PausedError | undefined => findCause(error, PausedError);

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

/** Those of this process who wait for one budget. */
interface BudgetQueue {
  readonly slots: CallSlots;
  readonly waiters: Waiter[];
  /** Ends the wait for a slot that nobody wants any more. */
  idle: AbortController;
  pumping: boolean;
  /** How far from now to reserve, where the store is too slow to reserve for now. */
  lead: number;
}

interface Waiter {
  grant(): void;
  fail(error: unknown): void;
}

export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { store, key, now, share = 0.98, patienceMs = Number.POSITIVE_INFINITY } = options;
  const lanes = new Map(
    Object.entries(options.budgets).map(([name, budget]) => [
      name,
      openQueue(slotsOf(`${key}/${name}`, budget, share)),
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

  /** Reserves slots for those who wait now and lets each go at its time. Slots that are not used are lost. */
  async function spend(queue: BudgetQueue): Promise<void> {
    const { waiters } = queue;
    const { interval, maxLatenessMs } = queue.slots;
    const count = Math.max(1, Math.min(waiters.length, Math.floor(RESERVE_AHEAD_MS / interval)));
    const first = await reserve(store, queue, count, now);
    // Counted: an interval of a budget without bounds is less than a time of today can tell apart.
    for (let taken = 0; taken < count; taken += 1) {
      const slot = first + taken * interval;
      if (!(await isReached(queue, slot, now)) || waiters.length === 0 || (await block.current()) !== undefined) return;
      if (now() - slot <= maxLatenessMs) waiters.shift()?.grant();
    }
  }

  return {
    acquire(budget, signal, order = 'last') {
      const queue = find(budget);
      const granted = join(queue, signal, order);
      if (!queue.pumping && queue.waiters.length > 0) {
        queue.pumping = true;
        void pump(queue);
      }
      return granted;
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

/** Waits in the queue until a slot is granted. Rejects where the signal aborts, and leaves the queue then. */
function join(queue: BudgetQueue, signal: AbortSignal, order: CallOrder): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const leave = () => {
      queue.waiters.splice(queue.waiters.indexOf(waiter), 1);
      if (queue.waiters.length === 0) queue.idle.abort();
      reject(signal.reason);
    };
    const waiter: Waiter = {
      grant() {
        signal.removeEventListener('abort', leave);
        resolve();
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

/** Waits for a slot while somebody wants it. False where the clock was set back: then the reservation means nothing. */
async function isReached({ waiters, slots, idle }: BudgetQueue, slot: number, now: () => number): Promise<boolean> {
  while (now() < slot && waiters.length > 0) {
    if (slot - now() > 2 * slots.perMs + RESERVE_AHEAD_MS) return false;
    await pause(slot - now(), idle.signal);
  }
  return true;
}

/** Takes `count` slots in a row, and returns the time of the first. */
async function reserve(store: Store, queue: BudgetQueue, count: number, now: () => number): Promise<number> {
  let asked = 0;
  const first = await reserveSlots(store, queue.slots, count, () => {
    asked = now();
    return asked + queue.lead;
  });
  // A store slower than that would make every slot too late to use: reserve ahead while it lasts.
  const took = now() - asked;
  queue.lead = took > queue.slots.maxLatenessMs / 2 ? 2 * took : 0;
  return first;
}
