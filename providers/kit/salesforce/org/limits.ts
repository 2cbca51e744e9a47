/** The limits of an emulated org: calls in a window, calls in 24 hours, and the headers about them. */

import type { Window } from '../../../provider.ts';
import type { EmulatorAnswer } from '../../emulator/emulator.ts';
import { refusal } from './refusal.ts';

export interface OrgLimits {
  /** Counts a call; returns an answer if the org refuses it. */
  take(now: number): EmulatorAnswer | undefined;
  headers(now: number): Readonly<Record<string, string>>;
}

const HOUR_MS = 3_600_000;

/** `jitter` is how far the header may lag, up and down. */
export function openLimits(
  options: { readonly window: Window | undefined; readonly daily: number; readonly jitter: number },
  random: () => number,
): OrgLimits {
  const recent: number[] = [];
  const hours = new Map<number, number>();
  const used = (now: number): number => {
    const oldest = Math.floor(now / HOUR_MS) - 24;
    let sum = 0;
    for (const [hour, count] of hours) {
      if (hour <= oldest) hours.delete(hour);
      else sum += count;
    }
    return sum;
  };
  return {
    take(now) {
      if (used(now) >= options.daily) return TOTAL_REQUESTS;
      const { window } = options;
      if (window !== undefined) {
        while ((recent[0] ?? now) <= now - window.perMs) recent.shift();
        if (recent.length >= window.calls) return CONCURRENT;
        recent.push(now);
      }
      const hour = Math.floor(now / HOUR_MS);
      hours.set(hour, (hours.get(hour) ?? 0) + 1);
      return undefined;
    },
    headers(now) {
      const shown = Math.max(0, used(now) - Math.floor(random() * (options.jitter + 1)));
      return { 'sforce-limit-info': `api-usage=${shown}/${options.daily}` };
    },
  };
}

/** Both limits answer with the same code; only the text distinguishes them. */
const TOTAL_REQUESTS = refusal(403, 'REQUEST_LIMIT_EXCEEDED', 'TotalRequests Limit exceeded.');
const CONCURRENT = refusal(403, 'REQUEST_LIMIT_EXCEEDED', 'ConcurrentPerOrgLongTxn Limit exceeded.');
