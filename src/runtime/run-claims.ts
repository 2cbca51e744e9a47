/** One run of a worker: the work under its leases, and the settlement of lanes whose run threw. */

import { cutText } from '../protocol/text/cut.ts';
import { errorText } from '../protocol/text/error-text.ts';
import type { Store } from '../store/store.ts';
import { type StoreError, storeErrorIn } from '../store/store-error.ts';
import { backoff } from './backoff.ts';
import { type Claim, type Settlement, settleAll } from './lanes/lanes.ts';
import { renewWhile } from './lanes/renew-while.ts';
import { StrayError } from './stray-error.ts';

export interface RunOptions {
  readonly store: Store;
  readonly queue: string;
  readonly now: () => number;
  readonly log: { error(details: object, message: string): void };
  /**
   * Does the work and settles every claim. An exception counts as a fault of cvrsync: the unsettled lanes run again
   * later, each alone. The signal aborts when the worker can wait no longer.
   */
  run(claims: readonly Claim[], signal: AbortSignal): Promise<void>;
}

type Failure =
  /** The worker stops: the next one can take the lanes at once, unless one of them may have caused a stray error. */
  | { readonly kind: 'cut'; readonly stray?: StrayError }
  /** The store did not answer: no lane is to blame, and none loses an attempt. */
  | { readonly kind: 'away'; readonly error: StoreError }
  | { readonly kind: 'fault'; readonly error: unknown };

const PARK_AFTER_MS = 72 * 3_600_000;
/** The attempts of a lane that only waited long, for instance for a paused account. */
const PARK_AFTER_TRIES = 10;

/**
 * Returns a function that runs claims of one worker under their leases, until `cut` aborts, and reschedules lanes whose
 * run threw.
 */
export function createRunner(
  options: RunOptions & { readonly leaseMs: number },
  cut: AbortSignal,
): (claims: readonly Claim[]) => Promise<void> {
  const { store, queue, now, log } = options;
  /** Lanes of a batch whose run threw: one may be poison, so each runs alone until it succeeds. */
  const suspects = new Set<string>();
  const isSuspect = ({ key }: Claim): boolean => suspects.has(key);
  const onError = (error: unknown) => log.error({ err: error, queue }, 'could not renew leases: trying again');

  async function attempt(claims: readonly Claim[]): Promise<void> {
    try {
      cut.throwIfAborted();
      await options.run(claims, cut);
      for (const { key } of claims) suspects.delete(key);
    } catch (error) {
      const failure = failureOf(error, cut);
      if (failure.kind === 'fault') for (const { key } of claims) suspects.add(key);
      logFailure(options, claims, failure);
      await putBack(claims, failure);
    }
  }

  async function putBack(claims: readonly Claim[], failure: Failure): Promise<void> {
    const settle = (claim: Claim) => [claim, settlementAfter(failure, claim, now())] as const;
    await store
      .write((tx) => settleAll(tx, claims.map(settle)))
      .catch((err) => log.error({ err, queue }, 'could not put failed work back: its leases will run out'));
  }

  return (claims) =>
    renewWhile(claims, { ...options, onError }, async (isHeld) => {
      const alone = claims.filter(isSuspect);
      const together = claims.filter((one) => !isSuspect(one));
      if (together.length > 0) await attempt(together);
      for (const one of alone) if (isHeld(one)) await attempt([one]);
    });
}

function failureOf(error: unknown, cut: AbortSignal): Failure {
  if (cut.aborted) return cut.reason instanceof StrayError ? { kind: 'cut', stray: cut.reason } : { kind: 'cut' };
  const away = storeErrorIn(error);
  return away === undefined ? { kind: 'fault', error } : { kind: 'away', error: away };
}

function logFailure({ queue, log }: RunOptions, claims: readonly Claim[], failure: Failure): void {
  const lanes = claims.length;
  if (failure.kind === 'away')
    log.error({ err: failure.error, queue, lanes }, 'a run ended because the store did not answer: trying again');
  else if (failure.kind === 'fault')
    log.error({ err: failure.error, queue, keys: claims.slice(0, 5).map(({ key }) => key), lanes }, 'a run failed');
}

function settlementAfter(failure: Failure, { attempts, since }: Claim, now: number): Settlement {
  if (failure.kind === 'cut' && failure.stray === undefined) return { kind: 'again', at: now, free: true };
  const error = failure.kind === 'cut' ? `the process ended: ${message(failure.stray)}` : message(failure.error);
  if (failure.kind === 'away') return { kind: 'again', at: now + backoff(1), error, free: true };
  const tries = attempts + 1;
  if (now - since > PARK_AFTER_MS && tries >= PARK_AFTER_TRIES) return { kind: 'parked', at: now, error };
  return { kind: 'again', at: now + backoff(tries), error };
}

const message = (error: unknown): string => cutText(errorText(error), 500);
