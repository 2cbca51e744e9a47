/** A task that asks a CRM something again and again. */
import type { Logger } from 'pino';
import type { Metrics } from '../../http/metrics.ts';
import type { Claim } from '../../runtime/lanes/lanes.ts';
import type { WakeUp } from '../../runtime/wake-up.ts';
import type { Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import type { Upstream } from '../monitoring/upstream.ts';

export const POLL_QUEUE = 'poll';

/** A connection's name holds no blank. */
export const pollKey = (provider: string, task: string): string => `${provider} ${task}`;

export interface PollDeps {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly now: () => number;
  /** Wakes the workers of the queues that a poll has marked. */
  readonly wakeUp: WakeUp;
  readonly upstream: () => Promise<Upstream | undefined>;
}

/**
 * `done`: run again after the usual interval; `again`: run again at this time, without a failure; `person`: park the
 * task until a person retries it.
 */
export type Polled =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly at: number }
  | { readonly kind: 'person'; readonly reason: string };

export interface PollTask {
  /** Undefined: the connection never runs it. */
  everyMs(crm: Crm): number | undefined;
  /** First run on a new store: at once, or after the interval. */
  readonly first: 'now' | 'later';
  /**
   * Runs the task. Each transaction checks that the claim is still {@link held}: another process may have taken over.
   * May throw ProviderError and UpstreamError; the task is then retried.
   */
  run(deps: PollDeps, crm: Crm, claim: Claim, signal: AbortSignal): Promise<Polled>;
}
