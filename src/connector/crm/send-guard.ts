/** What is asked about a call of a provider as the last thing before its bytes leave: after its wait for the rate limiter. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { HttpRequest } from '../../../providers/provider.ts';
import type { RateLimiter, SecondSlot } from '../../runtime/limits/rate-limiter.ts';

/** What it throws ends the call unsent, and is what the provider gets; throw a ProviderError. */
export type SendGuard = (request: HttpRequest) => void | Promise<void>;

/** The work that a call is a part of. */
interface SendContext {
  readonly kind: 'read' | 'write';
  readonly guard: SendGuard;
  readonly pair?: CallPair | undefined;
}

/** A read and the write that follows it: their slots are taken together, so that the write need not wait. */
export interface CallPair {
  /** The slot that waits for the write; `wanted` until the read has taken it. */
  second: SecondSlot | 'wanted' | undefined;
}

/** Gives back the slot of a write that does not come. */
export function releasePair(pair: CallPair): void {
  if (typeof pair.second === 'object') pair.second.release();
  pair.second = undefined;
}

const contexts = new AsyncLocalStorage<SendContext>();

/** Runs work whose calls are guarded; a sign-in is not: others may wait for it. */
export const withSendGuard = <T>(guard: SendGuard, work: () => Promise<T>, pair?: CallPair): Promise<T> =>
  contexts.run({ kind: 'write', guard, pair }, work);

/**
 * Runs a read, and says when its first call left, in ms since 1970: what waits for the rate limiter has not been read yet.
 * When it was begun, where it makes no call.
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

/** Waits until a call of the work that this is a part of may be made. */
export async function acquireCall(rateLimiter: RateLimiter, request: HttpRequest, budget: string): Promise<void> {
  const { kind, pair } = contexts.getStore() ?? {};
  const isWrite = kind === 'write' && request.method !== 'GET';
  if (kind === 'read' && pair?.second === 'wanted') {
    pair.second = undefined;
    pair.second = await rateLimiter.acquirePair(budget, request.signal);
    return;
  }
  if (isWrite && typeof pair?.second === 'object' && (await pair.second.use())) return;
  // A write that was decided by what the CRM held a moment ago goes before reads.
  await rateLimiter.acquire(budget, request.signal, isWrite ? 'first' : 'last');
}

/** Runs reads, and tells the guard of each call. */
export const withReadGuard = <T>(guard: SendGuard, work: () => Promise<T>): Promise<T> =>
  contexts.run({ kind: 'read', guard }, work);

/** The work that this is a part of. */
export const currentSendContext = (): SendContext | undefined => contexts.getStore();
