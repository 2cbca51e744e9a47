/** What is asked about a call of a provider as the last thing before its bytes leave: after its wait for the rate limiter. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { HttpRequest } from '../../../providers/provider.ts';

/** What it throws ends the call unsent, and is what the provider gets; throw a ProviderError. */
export type SendGuard = (request: HttpRequest) => void | Promise<void>;

/** The work that a call is a part of. */
export interface SendContext {
  readonly kind: 'read' | 'write';
  readonly guard: SendGuard;
}

const contexts = new AsyncLocalStorage<SendContext>();

/** Runs work whose calls are guarded; a sign-in is not: others may wait for it. */
export const withSendGuard = <T>(guard: SendGuard, work: () => Promise<T>): Promise<T> =>
  contexts.run({ kind: 'write', guard }, work);

/**
 * Runs a read, and says when its first call left, in ms since 1970: what waits for the rate limiter has not been read yet.
 * When it was begun, where it makes no call.
 */
export async function timeRead<T>(
  now: () => number,
  work: () => Promise<T>,
): Promise<{ readonly answer: T; readonly from: number }> {
  const begun = now();
  let left: number | undefined;
  const guard = () => {
    left ??= now();
  };
  const answer = await withReadGuard(guard, work);
  return { answer, from: left ?? begun };
}

/** Runs reads, and tells the guard of each call. */
export const withReadGuard = <T>(guard: SendGuard, work: () => Promise<T>): Promise<T> =>
  contexts.run({ kind: 'read', guard }, work);

/** The work that this is a part of. */
export const currentSendContext = (): SendContext | undefined => contexts.getStore();
