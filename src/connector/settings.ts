/** What the connector is given: what it stands on, and its part of the configuration. */
import type { Logger } from 'pino';
import type { Metrics } from '../http/metrics.ts';
import type { OutboundHttp } from '../http/outbound/client.ts';
import type { WireOptions } from '../protocol/payload.ts';
import type { Retention } from '../runtime/housekeeping/retention.ts';
import type { AuditActor } from '../runtime/operators/audit.ts';
import type { Store } from '../store/open.ts';
import type { CrmConfig } from './crm/crm.ts';

export interface ConnectorDeps {
  readonly store: Store;
  readonly http: OutboundHttp;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly now: () => number;
  /** How long data is kept; as by default where absent. */
  readonly retention?: Retention;
  /** This daemon among those of the store. */
  readonly daemon?: string;
}

/** The connector's part of the configuration, as the connector needs it. */
export interface ConnectorSettings {
  readonly providers: readonly CrmConfig[];
  /** Its address may be known only once our own server listens: the other half of this process. */
  readonly upstream?:
    | { readonly baseUrl: string | Promise<string>; readonly accessKey: string; readonly requestsPerMinute: number }
    | undefined;
  /** Who accepts at start whatever the configuration changes in the rules; nobody where absent. */
  readonly rulesAcceptedBy?: AuditActor | undefined;
  /** How events are read. */
  readonly wire: Required<WireOptions>;
  readonly limits: { readonly backlogCap: number; readonly leaseSeconds: number };
  /** Whether this daemon takes webhooks; it does where absent. */
  readonly ingest?: boolean;
  /** Whether it does the connector's other work; it does where absent. */
  readonly sync?: boolean;
}
