/** Takes the lanes of one queue as they fall due, in batches, and keeps hold of them while they are worked on. */
import PQueue from 'p-queue';
import type { Store } from '../store/store.ts';
import { storeErrorIn } from '../store/store-error.ts';
import { backoff } from './backoff.ts';
import { countDue, nextDue } from './lanes/lane-state.ts';
import { type Claim, claim, renew, type Settlement, settleAll } from './lanes/lanes.ts';
import { pause } from './pause.ts';
import type { WakeUp } from './wake-up.ts';

export interface WorkerOptions {
  readonly store: Store;
  readonly wakeUp: WakeUp;
  readonly queue: string;
  /** Lanes a run, at most. */
  readonly batch: number;
  /** Runs at a time, at most. */
  readonly concurrency: number;
  /** How long a claim lasts without a renewal: after a crash its lanes are taken up this much later. Default 30 s. */
  readonly leaseMs?: number;
  /** How often to look for work that nobody rang for. Default 1 s. */
  readonly pollMs?: number;
  readonly now: () => number;
  readonly log: { error(details: object, message: string): void };
  /**
   * Does the work and settles every claim. What it throws is taken for a fault of ours: the lanes that it had not settled
   * are tried again later, each in a run of its own. The signal aborts when the worker can wait no longer.
   */
  run(claims: readonly Claim[], signal: AbortSignal): Promise<void>;
  /** Nothing is claimed before this time: the account is paused. */
  blockedUntil?(): Promise<number> | number;
  /** Keys of lanes that are left to other processes, asked before each claim. */
  leaves?(): Promise<readonly string[]>;
  /** Ms to wait for a batch to fill up, where the one before was full. Default 0. */
  readonly gather?: number;
}

export interface Worker {
  /** Claims no more, waits up to `graceMs` for what runs, then aborts it. */
  stop(graceMs: number): Promise<void>;
  /** Resolves when a claim that began after this call found nothing due and nothing runs. */
  drained(): Promise<void>;
}

const PARK_AFTER_MS = 72 * 3_600_000;
/** A lane that merely waited long, for instance behind a paused account, still gets this many tries. */
const PARK_AFTER_TRIES = 10;
/** How long an aborted run may take to end, in ms. */
const LAST_WORD_MS = 1_000;

export function startWorker(options: WorkerOptions): Worker {
  const { store, wakeUp, queue, batch, concurrency, leaseMs = 30_000, pollMs = 1_000, now, log, gather = 0 } = options;
  const slots = new PQueue({ concurrency });
  const stopping = new AbortController();
  const cutting = new AbortController();
  /** Lanes of a batch whose run threw: one of them may be poison, so each is run alone until it succeeds. */
  const suspects = new Set<string>();
  let drains: (() => void)[] = [];
  let running = 0;
  let lastFull = false;

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      // A run on SQLite waits for nothing: without this one after the other would keep requests and timers out.
      await new Promise((resolve) => setImmediate(resolve));
      // A slot is taken before the claim: what is claimed runs at once, and holds the newest state.
      const found = Promise.withResolvers<number>();
      slots.add(() => turn(found.resolve)).catch((error) => log.error({ err: error, queue }, 'a worker turn failed'));
      if ((await found.promise) === 0) await idle();
    }
  }

  async function turn(found: (count: number) => void): Promise<void> {
    const asking = drains;
    let claims: readonly Claim[] = [];
    let failed = true;
    try {
      if (await mayClaim()) {
        drains = [];
        const except = await left();
        claims = await claim(store, queue, { limit: batch, now: now(), leaseMs, except });
        lastFull = claims.length === batch;
        failed = false;
      }
    } catch (error) {
      log.error({ err: error, queue }, 'could not claim work: trying again');
      await pause(pollMs, stopping.signal);
    }
    if (!failed && claims.length === 0 && running === 0) for (const resolve of asking) resolve();
    else drains = [...new Set([...asking, ...drains])];
    running += claims.length > 0 ? 1 : 0;
    found(claims.length);
    if (claims.length === 0) return;
    try {
      await work(claims);
    } finally {
      running--;
      if (drains.length > 0) wakeUp.ring(queue);
    }
  }

  /** False where the worker stops or the account is paused, after some waiting. */
  async function mayClaim(): Promise<boolean> {
    const { signal } = stopping;
    const left = ((await options.blockedUntil?.()) ?? 0) - now();
    if (left > 0) {
      await pause(Math.min(left, pollMs), signal);
      return false;
    }
    const end = now() + gather;
    while (lastFull && !signal.aborted && now() < end && (await countDue(store.db, queue, now(), batch)) < batch) {
      await pause(gather / 5, signal);
    }
    return !signal.aborted;
  }

  const left = async (): Promise<readonly string[]> => (await options.leaves?.()) ?? [];

  async function idle(): Promise<void> {
    let wait = pollMs;
    try {
      const due = await nextDue(store.db, queue, await left());
      // Due now, and still not claimed: another process is at it.
      if (due !== undefined) wait = Math.min(pollMs, Math.max(5, due - now()));
    } catch (error) {
      log.error({ err: error, queue }, 'could not look for work: trying again');
    }
    await wakeUp.wait(queue, wait, stopping.signal);
  }

  async function work(claims: readonly Claim[]): Promise<void> {
    let live: ReadonlySet<string> = new Set(claims.map(({ key }) => key));
    const over = new AbortController();
    const keeping = (async () => {
      for (;;) {
        await pause(leaseMs / 3, over.signal);
        if (over.signal.aborted) return;
        try {
          live = await renew(store, claims, now() + leaseMs);
        } catch (error) {
          log.error({ err: error, queue }, 'could not renew leases: trying again');
        }
      }
    })();
    try {
      const together = claims.filter(({ key }) => !suspects.has(key));
      const alone = claims.filter(({ key }) => suspects.has(key));
      if (together.length > 0) await attempt(together);
      for (const one of alone) if (live.has(one.key)) await attempt([one]);
    } finally {
      over.abort();
      await keeping;
    }
  }

  async function attempt(claims: readonly Claim[]): Promise<void> {
    try {
      cutting.signal.throwIfAborted();
      await options.run(claims, cutting.signal);
      for (const { key } of claims) suspects.delete(key);
    } catch (error) {
      const cut = cutting.signal.aborted;
      // No lane is poison because the store did not answer, and none has used up a try.
      const away = storeErrorIn(error);
      if (!cut && away !== undefined)
        log.error(
          { err: away, queue, lanes: claims.length },
          'a run ended because the store did not answer: trying again',
        );
      else if (!cut) {
        log.error(
          { err: error, queue, keys: claims.slice(0, 5).map(({ key }) => key), lanes: claims.length },
          'a run failed',
        );
        for (const { key } of claims) suspects.add(key);
      }
      const settlement = (one: Claim): Settlement => {
        if (cut) return released(now());
        if (away !== undefined) return { kind: 'again', at: now() + backoff(1), error: message(away), free: true };
        return failed(one, now(), message(error));
      };
      const settle = (one: Claim) => [one, settlement(one)] as const;
      await store
        .write((tx) => settleAll(tx, claims.map(settle)))
        .catch((err) => log.error({ err, queue }, 'could not put failed work back: its leases will run out'));
    }
  }

  const looping = loop();
  return {
    async stop(graceMs) {
      stopping.abort();
      const ended = new AbortController();
      void looping.then(() => slots.onIdle()).then(() => ended.abort());
      await pause(graceMs, ended.signal);
      cutting.abort();
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

/** A stopped worker's lanes can be taken up by the next one at once. */
function released(now: number): Settlement {
  return { kind: 'again', at: now, free: true };
}

function failed({ attempts, since }: Claim, now: number, error: string): Settlement {
  const tries = attempts + 1;
  if (now - since > PARK_AFTER_MS && tries >= PARK_AFTER_TRIES) return { kind: 'parked', at: now, error };
  return { kind: 'again', at: now + backoff(tries), error };
}

function message(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500);
}
