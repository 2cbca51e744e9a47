/** The pace of one account: calls are spaced evenly over a budget's window, by all processes on the store together. */
import type { Store } from '../store/store.ts';
import type { BlockFault } from './blocks.ts';
import { AHEAD_MS, type Budget, type CallSlots, reserveSlots, skipSlots, slotsOf } from './call-slots.ts';
import { type Block, openBlock, RECHECK_MS } from './known-block.ts';
import { pause } from './pause.ts';

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
interface Lane {
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
    Object.entries(options.budgets).map(([name, budget]) => [name, openLane(slotsOf(`${key}/${name}`, budget, share))]),
  );
  const block = openBlock(store, key, now);

  function find(budget: string): Lane {
    const found = lanes.get(budget);
    if (found === undefined) throw new Error(`${key} has no call budget named ${budget}`);
    return found;
  }

  async function pump(lane: Lane): Promise<void> {
    try {
      while (lane.waiters.length > 0) {
        const blocked = await block.current();
        if (blocked === undefined) await spend(lane);
        else if (blocked.until - now() > patienceMs) throw new PausedError(blocked);
        else await pause(Math.min(blocked.until - now(), RECHECK_MS), lane.idle.signal);
      }
    } catch (error) {
      for (const waiter of lane.waiters.splice(0)) waiter.fail(error);
    } finally {
      lane.pumping = false;
    }
  }

  /** Reserves slots for those who wait now and lets each go at its time. CallSlots that are not used are lost. */
  async function spend(lane: Lane): Promise<void> {
    const { waiters } = lane;
    const { interval, slack } = lane.slots;
    const count = Math.max(1, Math.min(waiters.length, Math.floor(AHEAD_MS / interval)));
    const first = await reserve(store, lane, count, now);
    for (let slot = first; slot < first + count * interval - interval / 2; slot += interval) {
      if (!(await isReached(lane, slot, now)) || waiters.length === 0 || (await block.current()) !== undefined) return;
      if (now() - slot <= slack) waiters.shift()?.grant();
    }
  }

  return {
    acquire(budget, signal, order = 'last') {
      const lane = find(budget);
      const granted = join(lane, signal, order);
      if (!lane.pumping && lane.waiters.length > 0) {
        lane.pumping = true;
        void pump(lane);
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

const openLane = (slots: CallSlots): Lane => ({
  slots,
  waiters: [],
  idle: new AbortController(),
  pumping: false,
  lead: 0,
});

/** Waits in the lane until a slot is granted. Rejects where the signal aborts, and leaves the lane then. */
function join(lane: Lane, signal: AbortSignal, order: CallOrder): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const leave = () => {
      lane.waiters.splice(lane.waiters.indexOf(waiter), 1);
      if (lane.waiters.length === 0) lane.idle.abort();
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
    if (lane.idle.signal.aborted) lane.idle = new AbortController();
    if (order === 'first') lane.waiters.unshift(waiter);
    else lane.waiters.push(waiter);
  });
}

/** Waits for a slot while somebody wants it. False where the clock was set back: then the reservation means nothing. */
async function isReached({ waiters, slots, idle }: Lane, slot: number, now: () => number): Promise<boolean> {
  while (now() < slot && waiters.length > 0) {
    if (slot - now() > 2 * slots.perMs + AHEAD_MS) return false;
    await pause(slot - now(), idle.signal);
  }
  return true;
}

/** Takes `count` slots in a row, and returns the time of the first. */
async function reserve(store: Store, lane: Lane, count: number, now: () => number): Promise<number> {
  let asked = 0;
  const first = await reserveSlots(store, lane.slots, count, () => {
    asked = now();
    return asked + lane.lead;
  });
  // A store slower than the slack would make every slot too late to use: reserve ahead while it lasts.
  const took = now() - asked;
  lane.lead = took > lane.slots.slack / 2 ? 2 * took : 0;
  return first;
}
