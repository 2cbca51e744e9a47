/** Retries calls to a CRM, and throws only the faults that a person must repair. */
import { ProviderError } from '../../../providers/provider.ts';
import { backoff } from '../../runtime/backoff.ts';
import { pause } from '../../runtime/limits/pause.ts';
import { pausedErrorIn } from '../../runtime/limits/rate-limiter.ts';
import type { Crm } from './crm.ts';

/** A longer pause is not waited for. */
const LONGEST_PAUSE_MS = 15 * 60_000;
const LONGEST_SILENCE_MS = 2 * 60_000;
const LONGEST_BACKOFF_MS = 60_000;
/** No call lasts longer; if one seems to, the machine slept. */
const LONGEST_CALL_MS = 60_000;
const PAUSE_MS = { rate: 10_000, locked: 60_000 } as const;

export interface Patient {
  readonly crm: Pick<Crm, 'rateLimiter'>;
  readonly now: () => number;
  /** Retries this long without an answer; two minutes by default. */
  readonly silenceMs?: number;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly report?: WaitReport | undefined;
}

/** Called with the reason of a wait; `trouble` is undefined once the wait is over. */
export type WaitReport = (step: { readonly trouble: string | undefined; readonly wait?: Wait | undefined }) => void;

export interface Wait {
  readonly since: number;
  readonly until: number;
}

/**
 * Repeats a call until the CRM answers: after a pause that the CRM asks for, which holds for the whole account, and
 * with back-off if no answer comes. Throws the faults that a person must repair: credentials, a refusal, no answer for
 * too long.
 */
export async function patiently<T>(
  { crm, now, silenceMs = LONGEST_SILENCE_MS, wait = pause, report }: Patient,
  call: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const began = now();
  let spent = 0;
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    const asked = now();
    try {
      const answer = await call();
      if (tries > 1) report?.({ trouble: undefined, wait: undefined });
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ProviderError)) throw error;
      spent += Math.min(now() - asked, LONGEST_CALL_MS);
      const ms = pauseAfter(error, tries, spent > silenceMs);
      if (ms === undefined) throw error;
      const until = await blockFor(error, ms);
      report?.({ trouble: error.message, wait: { since: began, until } });
      spent += ms;
      await wait(ms, signal);
    }
  }

  /**
   * Pauses the account for a fault of the account, unless an earlier pause refused the call. Returns when the call is
   * repeated or given up.
   */
  async function blockFor(error: ProviderError, ms: number): Promise<number> {
    const { fault, message } = error;
    if (fault === 'unavailable') return now() + silenceMs - spent;
    if (pausedErrorIn(error) === undefined) await crm.rateLimiter.block(now() + ms, message, fault);
    return now() + ms;
  }
}

function pauseAfter({ fault, retryAfterMs }: ProviderError, tries: number, isOver: boolean): number | undefined {
  if (fault === 'auth' || fault === 'refused') return undefined;
  if (fault === 'unavailable')
    return isOver ? undefined : Math.max(retryAfterMs ?? 0, backoff(tries, { capMs: LONGEST_BACKOFF_MS }));
  const ms = Math.max(retryAfterMs ?? PAUSE_MS[fault], 1_000);
  return ms > LONGEST_PAUSE_MS ? undefined : ms;
}
