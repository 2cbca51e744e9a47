/**
 * Poison events (see runtime/lanes/poison.ts): receipts of a company whose last run never ended are begun one at a
 * time, and one that began too often is quarantined.
 */
import type { Metrics } from '../../http/metrics.ts';
import { type Claim, held } from '../../runtime/lanes/lanes.ts';
import { poisonReason } from '../../runtime/lanes/poison.ts';
import type { Store } from '../../store/store.ts';
import { readWaiting } from '../intake/receipt.ts';

const SLOW_SECONDS = 2;
const NONE = { user: 0, system: 0 };

/** Counts a start of the company's next receipt. False if none is left, or the lease was lost. */
export async function beginNext(
  deps: {
    readonly store: Store;
    readonly metrics: Metrics;
    readonly now: () => number;
    readonly log?: { warn(details: object, message: string): void };
  },
  claim: Claim,
): Promise<boolean> {
  for (;;) {
    const next = await deps.store.write(async (tx) => {
      if ((await held(tx, [claim])).size === 0) return undefined;
      const [receipt] = await readWaiting(tx, [claim.key], 1);
      if (receipt === undefined) return undefined;
      const { seq, begun } = receipt;
      const reason = poisonReason(begun);
      await tx
        .updateTable('receipt')
        .set(reason === undefined ? { begun: begun + 1 } : { applied_at: deps.now(), quarantined: reason })
        .where('seq', '=', seq)
        .execute();
      return { event: seq, reason };
    });
    if (next?.reason === undefined) return next !== undefined;
    deps.metrics.poisonEvents.inc();
    deps.log?.warn(next, 'an event was quarantined: see cvrsync review list');
  }
}

/** Smallest interval between two CPU readings: a reading takes longer than a small event. */
const ASKED_MS = 50;

/** Measures each event by CPU time: a busy machine does not count as slow. */
export function startCpuClock(): { slowSeconds(): number | undefined } {
  let begun = performance.now();
  let asked = { at: begun, usage: process.cpuUsage() };
  return {
    /** CPU seconds of the event that ends now, if it was slow; starts the next one. */
    slowSeconds() {
      const now = performance.now();
      // An event takes no more CPU time than time: the thread works on it alone.
      const { user, system } = now - begun > SLOW_SECONDS * 1_000 ? process.cpuUsage(asked.usage) : NONE;
      begun = now;
      if (now - asked.at > ASKED_MS) asked = { at: now, usage: process.cpuUsage() };
      const seconds = (user + system) / 1_000_000;
      return seconds > SLOW_SECONDS ? seconds : undefined;
    },
  };
}
