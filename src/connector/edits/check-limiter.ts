/** How many calls of an account the checks for lost edits may take, by all processes on the store together. */
import { createRateLimiter, type RateLimiter } from '../../runtime/limits/rate-limiter.ts';
import type { Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';

/** The budget of the checks. */
export const CHECK_CALLS = 'checks';
const SHARE = 0.05;

/** Spaces the calls of the checks evenly: one in twenty of those that the account allows. */
export function openCheckLimiter(
  store: Store,
  { name, limits }: Pick<Crm, 'name' | 'limits'>,
  now: () => number,
): RateLimiter {
  const { calls, perMs } = limits.budgets.default;
  // A connection's name holds no slash.
  return createRateLimiter({
    store,
    key: `${name}/edits`,
    budgets: { [CHECK_CALLS]: { calls: calls * SHARE, perMs } },
    now,
  });
}
