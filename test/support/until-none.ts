/** Waits for progress, not for seconds: how long all of it takes depends on how busy the machine is. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/**
 * Resolves when nothing is left. Fails if what is left stays the same for `stillMs`, however long it took to get there; an error
 * of the look counts as something that is left.
 */
export async function untilNone(
  look: () => Promise<readonly unknown[]>,
  { stillMs = 120_000, interval = 50 }: { readonly stillMs?: number; readonly interval?: number } = {},
): Promise<void> {
  let before: readonly unknown[] = [];
  for (let since = performance.now(); ; ) {
    const left = await look().catch((error: unknown) => [String(error)]);
    if (left.length === 0) return;
    if (!isDeepStrictEqual(left, before)) since = performance.now();
    else if (performance.now() - since > stillMs) expect(left).toEqual([]);
    before = left;
    await sleep(interval);
  }
}
