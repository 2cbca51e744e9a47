/** Holds claims while work on them runs. */
import type { Store } from '../../store/store.ts';
import { pause } from '../limits/pause.ts';
import { renew } from './lanes.ts';
import type { Claim } from './settlement.ts';

/**
 * Runs the work and renews the leases; `isHeld` says which claims were held at the last renewal. If a renewal fails,
 * the leases may run out: check with `held` before you write.
 */
export async function renewWhile<T>(
  claims: readonly Claim[],
  options: {
    readonly store: Store;
    readonly now: () => number;
    readonly leaseMs: number;
    readonly onError?: (error: unknown) => void;
  },
  work: (isHeld: (claim: Claim) => boolean) => Promise<T>,
): Promise<T> {
  const { store, now, leaseMs, onError } = options;
  let keys: ReadonlySet<string> = new Set(claims.map(({ key }) => key));
  const over = new AbortController();
  const renewing = (async () => {
    for (;;) {
      await pause(leaseMs / 3, over.signal);
      if (over.signal.aborted) return;
      try {
        keys = await renew(store, claims, now() + leaseMs);
      } catch (error) {
        onError?.(error);
      }
    }
  })();
  try {
    return await work(({ key }) => keys.has(key));
  } finally {
    over.abort('the work is over');
    await renewing;
  }
}
