/** A poll task: asks a CRM something again and again, and says when it runs next. */
import type { Logger } from 'pino';
import type { Metrics } from '../../http/metrics.ts';
import type { Claim } from '../../runtime/lanes/lanes.ts';
import type { WakeUp } from '../../runtime/wake-up.ts';
import type { Store } from '../../store/open.ts';
import type { Crm } from '../crm/crm.ts';
import type { Upstream } from '../monitoring/upstream.ts';

/** The lanes of all poll tasks; key: {@link pollKey}. */
export const POLL_QUEUE = 'poll';

/** The lane of one connection's task. No connection's name holds a blank. */
export const pollKey = (provider: string, task: string): string => `${provider} ${task}`;

export interface PollDeps {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly now: () => number;
  /** Wakes the workers of the queues that a poll marked. */
  readonly wakeUp: WakeUp;
  /** Undefined if none is configured. */
  readonly upstream: () => Promise<Upstream | undefined>;
}

/**
 * The result of a poll. `done`: run again after the usual time; `again`: run again at the given time, without a failure;
 * `person`: park the task with the reason until a person retries it.
 */
export type Polled =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly at: number }
  | { readonly kind: 'person'; readonly reason: string };

/** A task that every connection has. */
export interface PollTask {
  /** Ms between two runs; undefined if the connection never runs it. */
  everyMs(crm: Crm): number | undefined;
  /** When it runs on a new store: at once, or first after its time. */
  readonly first: 'now' | 'later';
  /**
   * Does it. What it stores, it stores in transactions that still {@link held} its claim: another process may have taken
   * over. Faults of the CRM (ProviderError) and of upstream (UpstreamError) may be thrown: it is tried again later.
   */
  run(deps: PollDeps, crm: Crm, claim: Claim, signal: AbortSignal): Promise<Polled>;
}
