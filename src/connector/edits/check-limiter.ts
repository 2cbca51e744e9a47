import { createRateLimiter, type RateLimiter } from '../../runtime/limits/rate-limiter.ts';
import type { Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';

export const CHECK_CALLS = 'checks';
const SHARE = 0.05;

/** One in twenty of the account's calls, evenly spaced. */
export function openCheckLimiter(
  store: Store,
  { name, limits }: Pick<Crm, 'name' | 'limits'>,
  now: () => number,
): RateLimiter {
  const { calls, perMs } = limits.budgets.default;
  return createRateLimiter({
    store,
    key: `${name}/edits`,
    budgets: { [CHECK_CALLS]: { calls: calls * SHARE, perMs } },
    now,
  });
}
