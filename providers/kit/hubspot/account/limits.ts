/** The rate limits of an emulated account, counted exactly: it refuses a call while its window is full. */

import { untilMidnight } from '../../../hubspot/client/midnight.ts';
import type { Window } from '../../../provider.ts';

/** The policy that refuses a call, as in `policyName`. */
export type LimitPolicy = 'TEN_SECONDLY_ROLLING' | 'SECONDLY' | 'DAILY';

export interface LimitDecision {
  readonly refused?: LimitPolicy;
  readonly headers: Readonly<Record<string, string>>;
}

export interface AccountLimits {
  /** Undefined: no burst limit. */
  readonly rate: Window | undefined;
  /** Calls in one day of the account. */
  readonly daily: number | undefined;
  readonly timeZone: string;
  /** `none` lifts the limit of searches. */
  readonly searchRate?: 'none' | undefined;
}

/** https://developers.hubspot.com/docs/developer-tooling/platform/usage-guidelines */
const SEARCH: Window = { calls: 5, perMs: 1_000 };

/** Counts calls, except refused ones; search has its own limit, and answers without headers. */
export function openLimits({ rate, daily, timeZone, searchRate }: AccountLimits): {
  take(now: number, search: boolean): LimitDecision;
} {
  const burst = rate === undefined ? undefined : rolling(rate);
  const search = searchRate === 'none' ? undefined : rolling(SEARCH);
  let today = 0;
  let dayEnds = Number.NEGATIVE_INFINITY;

  return {
    take(now, isSearch) {
      if (now >= dayEnds) {
        today = 0;
        dayEnds = now + untilMidnight(now, timeZone);
      }
      const window = isSearch ? search : burst;
      const refused = refusalAt(now, isSearch);
      if (refused === undefined) {
        today += 1;
        window?.add(now);
      }
      const headers = isSearch ? {} : headersAt(now);
      return refused === undefined ? { headers } : { refused, headers };
    },
  };

  function refusalAt(now: number, isSearch: boolean): LimitPolicy | undefined {
    if (daily !== undefined && today >= daily) return 'DAILY';
    if (isSearch) return search?.isFull(now) === true ? 'SECONDLY' : undefined;
    return burst?.isFull(now) === true ? 'TEN_SECONDLY_ROLLING' : undefined;
  }

  function headersAt(now: number): Readonly<Record<string, string>> {
    return {
      ...(burst !== undefined &&
        rate !== undefined && {
          'X-HubSpot-RateLimit-Max': String(rate.calls),
          'X-HubSpot-RateLimit-Remaining': String(rate.calls - burst.used(now)),
          'X-HubSpot-RateLimit-Interval-Milliseconds': String(rate.perMs),
        }),
      ...(daily !== undefined && {
        'X-HubSpot-RateLimit-Daily': String(daily),
        'X-HubSpot-RateLimit-Daily-Remaining': String(daily - today),
      }),
    };
  }
}

function rolling({ calls, perMs }: Window) {
  const times: number[] = [];
  const forget = (now: number) => {
    let old = 0;
    while (old < times.length && (times[old] ?? 0) <= now - perMs) old += 1;
    if (old > 0) times.splice(0, old);
  };
  return {
    used(now: number): number {
      forget(now);
      return times.length;
    },
    isFull(now: number): boolean {
      return this.used(now) >= calls;
    },
    add: (now: number) => void times.push(now),
  };
}
