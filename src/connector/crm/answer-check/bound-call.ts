/** One verb of a provider, held to its time, its signal, the errors it may throw and the shape of its answer. */

import { type Fault, type Property, ProviderError } from '../../../../providers/provider.ts';
import { errorText, plainError } from '../../../protocol/text/error-text.ts';
import { pausedErrorIn } from '../../../runtime/limits/rate-limiter.ts';
import { storeErrorIn } from '../../../store/store-error.ts';
import { inSpan } from '../../../telemetry/trace.ts';
import { type AnswerReading, isWait, ShapeError } from './check-values.ts';
import { ProviderBug } from './provider-bug.ts';
import type { IdForm } from './record-id.ts';

export interface AnswerCheckOptions {
  /** The connection's name, for messages. */
  readonly name: string;
  /** How ids in the answers are spelled here; as they stand where absent. */
  readonly form?: IdForm;
  /** The account's properties, of that age at most; where absent, nothing is known of what can be read. */
  readonly schema?: (signal: AbortSignal, maxAgeMs: number) => Promise<ReadonlyMap<string, Property>>;
  /** Hides the secrets of the connection in a text. */
  readonly mask?: ((text: string) => string) | undefined;
  /** How long one verb may take, in ms: longer than any pace would make an honest one wait. */
  readonly verbMs?: number;
  /** How long a verb may take to stop after its signal, in ms. */
  readonly stopMs?: number;
}

/** Runs a verb; `read` checks its answer and throws if it makes no sense. */
export type Bound = <T, R>(
  verb: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  read: (answer: unknown) => R,
) => Promise<R>;

const VERB_MS = 10 * 60_000;
const STOP_MS = 1_000;
const FAULTS: readonly unknown[] = ['rate', 'auth', 'unavailable', 'locked', 'refused'];

/** Makes the runner of one connection's verbs. */
export function boundVerb(
  { name, verbMs = VERB_MS, stopMs = STOP_MS }: AnswerCheckOptions,
  masked: AnswerReading['masked'],
): Bound {
  const run: Bound = async (verb, signal, work, read) => {
    signal.throwIfAborted();
    const over = Promise.withResolvers<never>();
    // The provider's own: at the deadline its calls end too, and nothing stays with a signal that lives for days.
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

/** A verb that throws before it waits is no other than one that throws later. */
const begin = async <T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> => work(signal);

/**
 * An error as the contract has them; a bug of the provider says whose it is. Whatever was thrown may be large, hold a
 * secret, or throw where it is read: what goes on is made anew.
 */
function asThrown(error: unknown, what: string, masked: AnswerReading['masked']): unknown {
  // Every call of a provider asks the store for its turn.
  const ofStore = storeErrorIn(error);
  if (ofStore !== undefined) return ofStore;
  const message = `${what} failed, which is a bug of the provider: ${errorText(error)}`;
  return providerErrorIn(error, masked) ?? new ProviderBug(masked(message), { cause: causeKept(error) });
}

/** A new ProviderError from what was thrown; undefined if that is not a fault of the connection. */
export function providerErrorIn(error: unknown, masked: AnswerReading['masked']): ProviderError | undefined {
  const found = faultIn(error);
  if (found === undefined) return undefined;
  return new ProviderError(found.fault, masked(errorText(error)), { cause: causeKept(error), ...found.wait });
}

/** The refusal by a standing block stays as it is: a block that a call met is not a new one. */
const causeKept = (error: unknown): unknown => pausedErrorIn(error) ?? plainError(error);

interface Found {
  readonly fault: Fault;
  readonly wait: { readonly retryAfterMs?: number };
}

/** The fault of a ProviderError, also of another copy of this package; its wait if an account could live with it. */
function faultIn(error: unknown): Found | undefined {
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
