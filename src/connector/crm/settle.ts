/** What a fault of a connection, or the outcome of a record, makes of the record's lane. */
import { ProviderError } from '../../../providers/provider.ts';
import { backoff } from '../../runtime/backoff.ts';
import type { Claim, Settlement } from '../../runtime/lanes/lanes.ts';
import { pausedErrorIn, type RateLimiter } from '../../runtime/limits/rate-limiter.ts';

const DEFAULT_PAUSE: Readonly<Record<Exclude<ProviderError['fault'], 'unavailable'>, number>> = {
  rate: 10_000,
  // One probe a minute: the first batch after the pause is the probe.
  auth: 60_000,
  locked: 60_000,
  refused: 5 * 60_000,
};

/** What a fault makes of the lanes it hit. `paused`: the account's, so that no other lane need try now. */
export interface FaultSettlement {
  readonly paused: boolean;
  of(claim: Claim): Settlement;
}

/**
 * Pauses the account if the fault is the account's and no standing block has refused the call, and says what the lanes
 * do: behind a paused account they wait without counting an attempt; if no answer came each backs off. Anything but a
 * ProviderError is rethrown.
 */
export async function settleFault(error: unknown, rateLimiter: RateLimiter, now: number): Promise<FaultSettlement> {
  if (!(error instanceof ProviderError)) throw error;
  const { fault, message, retryAfterMs } = error;
  if (fault === 'unavailable') {
    // One jitter for all: lanes that wait apart come back in many small batches, and each is a call.
    const jitter = Math.random();
    return { paused: false, of: (claim) => later(claim, now, message, { atLeastMs: retryAfterMs, jitter }) };
  }
  const standing = pausedErrorIn(error);
  const until = standing?.until ?? now + (retryAfterMs ?? DEFAULT_PAUSE[fault]);
  if (standing === undefined) await rateLimiter.block(until, message, fault);
  return { paused: true, of: () => ({ kind: 'again', at: until, error: message, free: true }) };
}

/** How long nothing is written to a record whose number speaks against its link, in ms. */
const CONTESTED_MS = 5 * 60_000;

/** How the error of such a lane begins. */
export const CONTESTED = 'nothing was written: ';

/** Whether a lane waits because its record's number speaks against its link. */
export const isContested = (settlement: Settlement): boolean =>
  settlement.kind === 'again' && settlement.error?.startsWith(CONTESTED) === true;

/**
 * Later, where a record's number speaks against its link. Fresh: whatever changes the link marks the record, and a lane in
 * back-off would keep waiting.
 */
export const whileContested = (reason: string, now: number): Settlement => ({
  kind: 'again',
  at: now + CONTESTED_MS,
  error: `${CONTESTED}${reason}`,
  fresh: true,
});

/** Why a record is read or written again if the CRM's answer leaves it out. */
export const UNMENTIONED = 'the CRM said nothing of this record';

/** Three days of back-off are enough: after that an operator decides. */
const GIVE_UP_MS = 72 * 3_600_000;
/** What the CRM puts off by an hour and more ends by itself, or by somebody's hand: an approval may take weeks. */
const LONG_MS = 3_600_000;
const LONG_GIVE_UP_MS = 30 * 24 * 3_600_000;
const LEAST_TRIES = 10;

/**
 * Later, with back-off; parked when it has been failing for three days, or for thirty if the CRM asks for long waits.
 * `jitter`: from 0 to 1. `atMostMs`: the longest back-off.
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
