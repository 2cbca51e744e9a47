/** Claims the due lanes of one queue in batches and renews the leases while the work runs. */
import PQueue from 'p-queue';
import { countDue, nextDue, queuesDue } from './lanes/lane-state.ts';
import { type Claim, claim, type Prepare } from './lanes/lanes.ts';
import { pause } from './limits/pause.ts';
import { createRunner, type RunOptions } from './run-claims.ts';
import type { StrayError } from './stray-error.ts';
import type { Poll, WakeUp } from './wake-up.ts';

export interface WorkerOptions extends RunOptions {
  readonly wakeUp: WakeUp;
  /** The most lanes per run; a function is called before each claim. */
  readonly batch: number | (() => Promise<number>);
  readonly concurrency: number;
  /** How long a claim lasts without a renewal, and so how long its lanes wait after a crash; 30 s by default. */
  readonly leaseMs?: number | undefined;
  /** How often to look for work without a ring; 1 s by default. */
  readonly pollMs?: number | undefined;
  /** How long to poll every 50 ms after a run, because a person may wait for the next step; 0 by default. */
  readonly lingerMs?: number;
  /**
   * Adds to the store what the lanes must find, with each claim. An idle worker first checks whether that is needed.
   */
  readonly prepare?: { readonly run: Prepare; readonly isNeeded: () => Promise<boolean> };
  /** Claims nothing before this time, because the account is paused. */
  blockedUntil?(): Promise<number> | number;
  /** Keys to leave to other processes, read before each claim. */
  leaves?(): Promise<readonly string[]>;
  /** How long to wait for a batch to fill up after a full one; 0 by default. */
  readonly gather?: number;
}

export interface Worker {
  /**
   * Stops claiming, waits up to `graceMs` for runs, then aborts them; after a stray error that counts as a failed
   * attempt.
   */
  stop(graceMs: number, stray?: StrayError): Promise<void>;
  /** Resolves when a claim that began after this call found nothing due and nothing runs. */
  drained(): Promise<void>;
}

const LAST_WORD_MS = 1_000;
const LINGER_POLL_MS = 50;

export function startWorker(options: WorkerOptions): Worker {
  const { wakeUp, queue, concurrency, leaseMs = 30_000, pollMs = 1_000, log } = options;
  const slots = new PQueue({ concurrency });
  const stopping = new AbortController();
  const cutting = new AbortController();
  const work = createRunner({ ...options, leaseMs }, cutting.signal);
  const drains: (() => void)[] = [];
  let running = 0;
  let lastFull = false;
  const look = openLook(options, pollMs);

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Runs on SQLite never wait: without this, one after the other would block requests and timers.
      await new Promise((resolve) => setImmediate(resolve));
      // Take a slot before the claim: claimed work then runs at once, on the newest state.
      const found = Promise.withResolvers<number>();
      slots.add(() => turn(found.resolve)).catch((error) => log.error({ err: error, queue }, 'a worker turn failed'));
      if ((await found.promise) > 0) continue;
      await wakeUp.wait(queue, await look.msUntilDue(), stopping.signal, pollOf(options, pollMs));
    }
  }

  async function turn(found: (count: number) => void): Promise<void> {
    const claims = await claimBatch();
    running += claims.length > 0 ? 1 : 0;
    found(claims.length);
    if (claims.length === 0) return;
    try {
      await work(claims);
    } finally {
      running--;
      // The loop may have begun a long wait.
      if (look.lingers() || drains.length > 0) wakeUp.ring(queue);
    }
  }

  /** Looks for work. If it finds none, resolves the calls of `drained` from before the look. */
  async function finds<T>(look: () => Promise<T>, isWork: (found: T) => boolean): Promise<T> {
    // Read before the look: a run that ends during it may leave a due lane that the look did not see.
    const [asked, isIdle] = [drains.length, running === 0];
    const found = await look();
    if (!isWork(found) && isIdle) for (const drained of drains.splice(0, asked)) drained();
    return found;
  }

  /** Claims what is due, one claim at a time. Empty if the worker stops, the account is paused or the store is away. */
  async function claimBatch(): Promise<readonly Claim[]> {
    try {
      // A claim is a write: a worker that has no work, or took all of it, reads first.
      if (!lastFull && !(await finds(look.isBehind, Boolean))) return [];
      look.forget();
      if (!(await mayClaim(options, pollMs, stopping.signal))) return [];
      const batch = await batchOf(options);
      if (lastFull) await gatherBatch(options, batch, stopping.signal);
      if (stopping.signal.aborted) return [];
      const claims = await finds(
        () => claimDue({ ...options, leaseMs }, batch),
        ({ length }) => length > 0,
      );
      lastFull = claims.length === batch;
      return claims;
    } catch (error) {
      log.error({ err: error, queue }, 'could not claim work: trying again');
      await pause(pollMs, stopping.signal);
      return [];
    }
  }

  const looping = loop();
  return {
    async stop(graceMs, stray) {
      stopping.abort();
      const ended = new AbortController();
      void looping.then(() => slots.onIdle()).then(() => ended.abort());
      await pause(graceMs, ended.signal);
      cutting.abort(stray);
      await pause(LAST_WORD_MS, ended.signal);
    },
    drained() {
      return new Promise((resolve) => {
        drains.push(resolve);
        wakeUp.ring(queue);
      });
    },
  };
}

async function mayClaim(options: WorkerOptions, pollMs: number, signal: AbortSignal): Promise<boolean> {
  const left = ((await options.blockedUntil?.()) ?? 0) - options.now();
  if (left <= 0) return true;
  await pause(Math.min(left, pollMs), signal);
  return false;
}

/** Looks for work. A wait uses the result of the last look, unless a claim followed it. */
function openLook(options: WorkerOptions, pollMs: number) {
  const { store, queue, now, log, prepare, leaves, lingerMs = 0 } = options;
  let known: { readonly due: number | undefined } | undefined;
  let lingersUntil = 0;
  const look = async () => ({ due: await nextDue(store.db, queue, now(), await leaves?.()) });
  return {
    forget() {
      known = undefined;
    },
    /** Looks more often for a while, if the worker does so after a run; returns whether it does. */
    lingers(): boolean {
      lingersUntil = now() + lingerMs;
      return lingerMs > 0;
    },
    async isBehind(): Promise<boolean> {
      known = undefined;
      known = await look();
      return (known.due !== undefined && known.due <= now()) || (await prepare?.isNeeded()) === true;
    },
    async msUntilDue(): Promise<number> {
      try {
        const { due = Number.POSITIVE_INFINITY } = known ?? (await look());
        // The shared poll does not find what `prepare` adds.
        const usual = prepare === undefined ? Number.POSITIVE_INFINITY : pollMs;
        const most = now() < lingersUntil ? LINGER_POLL_MS : usual;
        // Due but not claimable: another process is claiming it.
        return Math.min(most, Math.max(5, due - now()));
      } catch (error) {
        log.error({ err: error, queue }, 'could not look for work: trying again');
        return pollMs;
      }
    },
  };
}

async function claimDue(
  options: WorkerOptions & { readonly leaseMs: number },
  limit: number,
): Promise<readonly Claim[]> {
  const { store, queue, now, leaseMs, prepare } = options;
  const except = (await options.leaves?.()) ?? [];
  return claim(store, queue, { limit, now: now(), leaseMs, except, prepare: prepare?.run });
}

/** Finds lanes that other processes marked, and lanes that became due unnoticed. */
const pollOf = ({ store, now, log }: WorkerOptions, everyMs: number): Poll => ({
  everyMs,
  async busy(queues) {
    try {
      return await queuesDue(store.db, queues, { now: now(), until: now() + everyMs });
    } catch (error) {
      log.error({ err: error }, 'could not look for work: trying again');
      return [];
    }
  },
});

async function gatherBatch(options: WorkerOptions, batch: number, signal: AbortSignal): Promise<void> {
  const { store, queue, now, gather = 0 } = options;
  const end = now() + gather;
  while (!signal.aborted && now() < end && (await countDue(store.db, queue, now(), batch)) < batch)
    await pause(gather / 5, signal);
}

const batchOf = async ({ batch }: WorkerOptions): Promise<number> => (typeof batch === 'number' ? batch : batch());
