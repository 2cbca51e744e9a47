/** What is asked about a call of a provider as the last thing before its bytes leave: after its wait for the rate limiter. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { HttpRequest } from '../../../providers/provider.ts';

/** What it throws ends the call unsent, and is what the provider gets; throw a ProviderError. */
export type SendGuard = (request: HttpRequest) => void | Promise<void>;

const guards = new AsyncLocalStorage<SendGuard>();

/** Runs work whose calls are guarded; a sign-in is not: others may wait for it. */
export const withSendGuard = <T>(guard: SendGuard, work: () => Promise<T>): Promise<T> => guards.run(guard, work);

/** The guard of the work that this is a part of. */
export const currentSendGuard = (): SendGuard | undefined => guards.getStore();
