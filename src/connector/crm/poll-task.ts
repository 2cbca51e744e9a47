/** What a look is: something asked of a CRM again and again, and what its answer makes of the next time. */
import type { Logger } from 'pino';
import type { Metrics } from '../../http/metrics.ts';
import type { Claim } from '../../runtime/lanes/lanes.ts';
import type { WakeUp } from '../../runtime/wake-up.ts';
import type { Store } from '../../store/open.ts';
import type { Upstream } from '../links/upstream.ts';
import type { Crm } from './crm.ts';

/** The lanes of all looks; key: {@link pollKey}. */
export const POLL_QUEUE = 'poll';

/** The lane of one connection's task. No connection's name holds a blank. */
export const pollKey = (provider: string, task: string): string => `${provider} ${task}`;

export interface PollDeps {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly now: () => number;
  /** Rung for what a look marked. */
  readonly wakeUp: WakeUp;
  /** Undefined where none is configured. */
  readonly upstream: () => Promise<Upstream | undefined>;
}

/**
 * What a look came to. `done`: again after its time; `again`: sooner or later than that, without a failure; `person`: not
 * again until a person has looked, for the reason given.
 */
export type Polled =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly at: number }
  | { readonly kind: 'person'; readonly reason: string };

/** A task that every connection has. */
export interface PollTask {
  /** Ms between two runs; undefined where the connection never runs it. */
  everyMs(crm: Crm): number | undefined;
  /** When it runs on a new store: at once, or first after its time. */
  readonly first: 'now' | 'later';
  /**
   * Does it. What it stores, it stores in transactions that still {@link held} its claim: another process may have taken
   * over. Faults of the CRM (ProviderError) and of upstream (UpstreamError) may be thrown: it is tried again later.
   */
  run(deps: PollDeps, crm: Crm, claim: Claim, signal: AbortSignal): Promise<Polled>;
}
