/** Keeps a claim that no worker holds while work on it lasts. */
import type { Store } from '../store/store.ts';
import { renew } from './lanes/lanes.ts';
import type { Claim } from './lanes/settlement.ts';
import { pause } from './pause.ts';

/** Does the work and renews the lease meanwhile. Where that fails the lease may run out: look with `held` before you write. */
export async function renewWhile<T>(
  store: Store,
  claim: Claim,
  { now, leaseMs }: { readonly now: () => number; readonly leaseMs: number },
  work: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const keeping = (async () => {
    for (;;) {
      await pause(leaseMs / 3, over.signal);
      if (over.signal.aborted) return;
      await renew(store, [claim], now() + leaseMs).catch(() => {});
    }
  })();
  try {
    return await work();
  } finally {
    over.abort();
    await keeping;
  }
}
