/** Calls one verb of a provider: within its time, with its signal, and with checked errors and a checked answer. */

import { type Fault, type Property, ProviderError } from '../../../../providers/provider.ts';
import { errorText, plainError } from '../../../protocol/text/error-text.ts';
import { pausedErrorIn } from '../../../runtime/limits/rate-limiter.ts';
import { storeErrorIn } from '../../../store/store-error.ts';
import { inSpan } from '../../../telemetry/trace.ts';
import { ProviderBug } from './provider-bug.ts';
import { type AnswerReading, type IdForm, isWait, ShapeError } from './values.ts';

export interface AnswerCheckOptions {
  readonly name: string;
  /** Canonical form of the ids in answers; unchanged without it. */
  readonly form?: IdForm;
  readonly schema?: (signal: AbortSignal, maxAgeMs: number) => Promise<ReadonlyMap<string, Property>>;
  readonly mask?: ((text: string) => string) | undefined;
  /** Longer than any rate limit makes an honest provider wait. */
  readonly verbMs?: number;
  /** Time that a verb has to stop after its signal. */
  readonly stopMs?: number;
}

/** `read` checks the answer and throws if it is not valid. */
export type Bound = <T, R>(
  verb: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  read: (answer: unknown) => R,
) => Promise<R>;

const VERB_MS = 10 * 60_000;
const STOP_MS = 1_000;
const FAULTS: readonly unknown[] = ['rate', 'auth', 'unavailable', 'locked', 'refused'];

export function boundVerb(
  { name, verbMs = VERB_MS, stopMs = STOP_MS }: AnswerCheckOptions,
  masked: AnswerReading['masked'],
): Bound {
  const run: Bound = async (verb, signal, work, read) => {
    signal.throwIfAborted();
    const over = Promise.withResolvers<never>();
    // A signal for this call: it ends the call at the deadline, and leaves no listener on a signal that lives for days.
    const own = new AbortController();
    let stopping: NodeJS.Timeout | undefined;
    const onAbort = () => {
      own.abort(signal.reason);
      stopping = setTimeout(() => over.reject(signal.reason), stopMs);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const deadline = setTimeout(() => {
      const late = new ProviderError('unavailable', `${name}: its ${verb} did not end within ${verbMs / 1_000} s`);
      own.abort(late);
      over.reject(late);
    }, verbMs);
    let answer: unknown;
    try {
      answer = await Promise.race([begin(work, own.signal), over.promise]);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw asThrown(error, `${name}: its ${verb}`, masked);
    } finally {
      clearTimeout(deadline);
      clearTimeout(stopping);
      signal.removeEventListener('abort', onAbort);
    }
    try {
      return read(answer);
    } catch (error) {
      if (error instanceof ProviderError || error instanceof ProviderBug) throw error;
      const what =
        error instanceof ShapeError ? error.message : `an answer that throws when it is read: ${errorText(error)}`;
      const message = masked(`${name}: its ${verb} gave ${what}`);
      throw new ProviderError('unavailable', message, { cause: new ProviderBug(message) });
    }
  };
  return (verb, signal, work, read) =>
    inSpan(
      'crm',
      () => ({ kind: 'client', attributes: { 'cvrsync.provider': name, 'cvrsync.verb': verb } }),
      () => run(verb, signal, work, read),
    );
}

/** Turns a synchronous throw into a rejection. */
const begin = async <T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> => work(signal);

/**
 * The error that the contract allows; a bug of the provider names the provider. What was thrown may be large, hold a
 * secret, or throw when it is read, so a new error is made.
 */
function asThrown(error: unknown, what: string, masked: AnswerReading['masked']): unknown {
  // Every call of a provider uses the store's rate limiter, so the error may be the store's.
  const ofStore = storeErrorIn(error);
  if (ofStore !== undefined) return ofStore;
  const message = `${what} failed, which is a bug of the provider: ${errorText(error)}`;
  return providerErrorIn(error, masked) ?? new ProviderBug(masked(message), { cause: safeCause(error) });
}

export function providerErrorIn(error: unknown, masked: AnswerReading['masked']): ProviderError | undefined {
  const found = faultIn(error);
  if (found === undefined) return undefined;
  return new ProviderError(found.fault, masked(errorText(error)), { cause: safeCause(error), ...found.wait });
}

/** A pause that refused the call stays the cause: it must not pause the account again. */
const safeCause = (error: unknown): unknown => pausedErrorIn(error) ?? plainError(error);

interface FaultFound {
  readonly fault: Fault;
  readonly wait: { readonly retryAfterMs?: number };
}

/** Recognises a ProviderError of another copy of this package; drops a wait that is too long for an account. */
function faultIn(error: unknown): FaultFound | undefined {
  try {
    const isOurs = error instanceof ProviderError;
    const isOne = error instanceof Error && 'fault' in error && (isOurs || error.name === 'ProviderError');
    if (!isOne || !isFault(error.fault)) return undefined;
    const wait = 'retryAfterMs' in error && isWait(error.retryAfterMs) ? { retryAfterMs: error.retryAfterMs } : {};
    return { fault: error.fault, wait };
  } catch {
    return undefined;
  }
}

const isFault = (fault: unknown): fault is Fault => FAULTS.includes(fault);
