/** What a backfill works with, and how it tells where it is. */
import type { Metrics } from '../../../http/metrics.ts';
import type { RateLimiter } from '../../../runtime/limits/rate-limiter.ts';
import type { WakeUp } from '../../../runtime/wake-up.ts';
import type { Store } from '../../../store/store.ts';
import type { Crm } from '../../crm/crm.ts';
import type { Wait } from '../../crm/patience.ts';
import type { Phase } from './progress.ts';
import type { ScanRow } from './scan-rows.ts';

/** What just happened, for whoever shows it; what is not named did not change. */
export interface BackfillStep {
  readonly phase?: Phase;
  /** Records scanned, over all starts of the run. */
  readonly scanned?: number;
  /** Rows that were just scanned. */
  readonly seen?: readonly ScanRow[];
  /** Rows that were just linked. */
  readonly linked?: number;
  /** Rows to be linked, once it is known. */
  readonly toLink?: number;
  /** How far a match is, after its scan: the last row that was looked at, and the last of all. */
  readonly matched?: { readonly done: number; readonly total: number };
  /** Rows that were just written to the plan file. */
  readonly written?: number;
  /** Links that wait for the monitoring service. */
  readonly toConfirm?: number;
  /** Why it does not go on at this moment. */
  readonly trouble?: string | undefined;
  /** Since when, and until when at most. */
  readonly wait?: Wait | undefined;
}

export interface BackfillDeps {
  readonly store: Store;
  /** Rung where links wait for the monitoring service. */
  readonly wakeUp: WakeUp;
  readonly crm: Crm;
  readonly upstreamRateLimiter: RateLimiter;
  readonly metrics: Metrics;
  readonly now: () => number;
  /** Waits; resolves early if the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: { error(details: object, message: string): void };
  readonly leaseMs: number;
  readonly report: (step: BackfillStep) => void;
}

/** What a person must do first: nothing was done. */
export class BackfillError extends Error {
  override readonly name = 'BackfillError';
}
