/** Settlement of a record's lane after a fault of the connection or an outcome of the record. */
import { ProviderError } from '../../../providers/provider.ts';
import { backoff } from '../../runtime/backoff.ts';
import type { Claim, Settlement } from '../../runtime/lanes/lanes.ts';
import { pausedErrorIn, type RateLimiter } from '../../runtime/limits/rate-limiter.ts';

const DEFAULT_PAUSE: Readonly<Record<Exclude<ProviderError['fault'], 'unavailable'>, number>> = {
  rate: 10_000,
  // One probe a minute: the first batch after the pause.
  auth: 60_000,
  locked: 60_000,
  refused: 5 * 60_000,
};

/** `paused`: the account is paused, so no other lane need try now. */
export interface FaultSettlement {
  readonly paused: boolean;
  of(claim: Claim): Settlement;
}

/**
 * Pauses the account for a fault of the account, unless an earlier pause refused the call. Behind a paused account,
 * lanes wait without counting an attempt; if no answer came, each backs off. Throws any other error again.
 */
export async function settleFault(error: unknown, rateLimiter: RateLimiter, now: number): Promise<FaultSettlement> {
  if (!(error instanceof ProviderError)) throw error;
  const { fault, message, retryAfterMs } = error;
  if (fault === 'unavailable') {
    // One jitter for all: lanes that wait apart come back in many small batches, each a call.
    const jitter = Math.random();
    return { paused: false, of: (claim) => later(claim, now, message, { atLeastMs: retryAfterMs, jitter }) };
  }
  const standing = pausedErrorIn(error);
  const until = standing?.until ?? now + (retryAfterMs ?? DEFAULT_PAUSE[fault]);
  if (standing === undefined) await rateLimiter.block(until, message, fault);
  return { paused: true, of: () => ({ kind: 'again', at: until, error: message, free: true }) };
}

/** Pause of writes to a record whose number contradicts its link. */
const CONTESTED_MS = 5 * 60_000;

export const CONTESTED = 'nothing was written: ';

export const isContested = (settlement: Settlement): boolean =>
  settlement.kind === 'again' && settlement.error?.startsWith(CONTESTED) === true;

/**
 * Retries later if a record's number contradicts its link. Without back-off: a change of the link marks the record, and
 * a lane in back-off would keep waiting.
 */
export const whileContested = (reason: string, now: number): Settlement => ({
  kind: 'again',
  at: now + CONTESTED_MS,
  error: `${CONTESTED}${reason}`,
  fresh: true,
});

export const UNMENTIONED = 'the CRM did not answer for this record';

/** After three days of back-off, an operator decides. */
const GIVE_UP_MS = 72 * 3_600_000;
/** A wait of an hour and more ends by itself or by a person: an approval may take weeks. */
const LONG_MS = 3_600_000;
const LONG_GIVE_UP_MS = 30 * 24 * 3_600_000;
const LEAST_TRIES = 10;

/**
 * Retries later with back-off; parks the lane after three days of failures, or thirty if the CRM asks for long waits.
 * `jitter` is 0 to 1; `atMostMs` is the longest back-off.
 */
export function later(
  claim: Claim,
  now: number,
  error: string,
  {
    atLeastMs = 0,
    atMostMs: capMs,
    jitter = Math.random(),
  }: { readonly atLeastMs?: number | undefined; readonly atMostMs?: number; readonly jitter?: number } = {},
): Settlement {
  const tries = claim.attempts + 1;
  const giveUpMs = atLeastMs >= LONG_MS ? LONG_GIVE_UP_MS : GIVE_UP_MS;
  if (tries >= LEAST_TRIES && now - claim.since > giveUpMs) return { kind: 'parked', at: now, error };
  return {
    kind: 'again',
    at:
      now +
      Math.max(
        atLeastMs,
        backoff(tries, capMs === undefined ? {} : { capMs }, () => jitter),
      ),
    error,
  };
}
