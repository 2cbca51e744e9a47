/** Guards a call of a provider right before its bytes leave, after its wait for the rate limiter. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { HttpRequest } from '../../../providers/provider.ts';
import type { RateLimiter, SecondSlot } from '../../runtime/limits/rate-limiter.ts';

/** An error ends the call unsent and reaches the provider; throw a ProviderError. */
export type SendGuard = (request: HttpRequest) => void | Promise<void>;

interface SendContext {
  readonly kind: 'read' | 'write';
  readonly guard: SendGuard;
  readonly pair?: CallPair | undefined;
}

/** A read and its write: their slots are taken together, so that the write does not wait. */
export interface CallPair {
  /** The write's slot; `wanted` until the read has taken it. */
  second: SecondSlot | 'wanted' | undefined;
}

export function releasePair(pair: CallPair): void {
  if (typeof pair.second === 'object') pair.second.release();
  pair.second = undefined;
}

const contexts = new AsyncLocalStorage<SendContext>();

/** Guards the calls of the work. A sign-in is not guarded: others may wait for it. */
export const withSendGuard = <T>(guard: SendGuard, work: () => Promise<T>, pair?: CallPair): Promise<T> =>
  contexts.run({ kind: 'write', guard, pair }, work);

/**
 * Runs a read and returns when its first call left: a call that waits for the rate limiter has read nothing yet.
 * Without a call, returns when the work began.
 */
export async function timeRead<T>(
  now: () => number,
  work: () => Promise<T>,
  pair?: CallPair,
): Promise<{ readonly answer: T; readonly from: number }> {
  if (pair !== undefined) {
    releasePair(pair);
    pair.second = 'wanted';
  }
  const begun = now();
  let left: number | undefined;
  const guard = () => {
    left ??= now();
  };
  const answer = await contexts.run({ kind: 'read', guard, pair }, work);
  return { answer, from: left ?? begun };
}

export async function acquireCall(rateLimiter: RateLimiter, request: HttpRequest, budget: string): Promise<void> {
  const { kind, pair } = contexts.getStore() ?? {};
  const isWrite = kind === 'write' && request.method !== 'GET';
  if (kind === 'read' && pair?.second === 'wanted') {
    pair.second = undefined;
    pair.second = await rateLimiter.acquirePair(budget, request.signal);
    return;
  }
  if (isWrite && typeof pair?.second === 'object' && (await pair.second.use())) return;
  // A write goes before reads: it was decided by what the CRM held a moment ago.
  await rateLimiter.acquire(budget, request.signal, isWrite ? 'first' : 'last');
}

export const withReadGuard = <T>(guard: SendGuard, work: () => Promise<T>): Promise<T> =>
  contexts.run({ kind: 'read', guard }, work);

export const currentSendContext = (): SendContext | undefined => contexts.getStore();
