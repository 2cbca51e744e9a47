/** The connector's dependencies, and its part of the configuration. */
import type { Logger } from 'pino';
import type { Metrics } from '../http/metrics.ts';
import type { OutboundHttp } from '../http/outbound/client.ts';
import type { WireOptions } from '../protocol/payload.ts';
import type { Retention } from '../runtime/housekeeping/retention.ts';
import type { AuditActor } from '../runtime/operators/audit.ts';
import type { Store } from '../store/store.ts';
import type { CrmConfig } from './crm/crm.ts';

export interface ConnectorDeps {
  readonly store: Store;
  readonly http: OutboundHttp;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly now: () => number;
  readonly retention?: Retention;
  readonly daemon?: string;
}

export interface ConnectorSettings {
  readonly providers: readonly CrmConfig[];
  /** The address of an own service is known only when its server listens. */
  readonly upstream?:
    | { readonly baseUrl: string | Promise<string>; readonly accessKey: string; readonly requestsPerMinute: number }
    | undefined;
  /** Accepts at start all changes of the rules; undefined: nobody. */
  readonly rulesAcceptedBy?: AuditActor | undefined;
  readonly wire: Required<WireOptions>;
  readonly limits: { readonly backlogCap: number; readonly leaseSeconds: number };
  readonly ingest?: boolean;
  readonly sync?: boolean;
}
