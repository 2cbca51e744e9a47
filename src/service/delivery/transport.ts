/** Reaches webhooks: at public addresses, and our own connector's wherever this process listens. */
import type { OutboundHttp } from '../../http/outbound/client.ts';
import { createGuard, type GuardOptions } from '../../http/outbound/guard.ts';
import type { Monitor } from '../monitors/monitor.ts';
import type { MonitorOptions } from '../monitors/monitor-input.ts';
import { isOwnJob } from './own-jobs.ts';
import { openWebhookClient } from './post.ts';

export interface AddressRules {
  readonly webhooks: { readonly allowPrivateAddresses: boolean; readonly allow: readonly string[] };
  readonly emailEvent: string;
}

export interface Transport {
  readonly http: OutboundHttp;
  readonly url: string;
}

/** The transport of a job of our own connector; undefined for all other monitors. */
export type OwnTransport = (monitor: Pick<Monitor, 'owner'>) => Transport | undefined;

export interface Transports {
  readonly http: OutboundHttp;
  readonly ownTransport: OwnTransport;
  /** Delivers jobs of our own connector to this address, which need not be public. */
  openOwn(url: string): void;
  close(): Promise<void>;
}

export function monitorOptions({ webhooks, emailEvent }: AddressRules): MonitorOptions {
  const { refusal } = createGuard({ allowPrivate: webhooks.allowPrivateAddresses, allow: webhooks.allow });
  return { emailEvent, refusal };
}

/**
 * Opens the clients. Only jobs of our own connector reach a private address, because others may trust posts from this
 * machine. They go to the webhook of this process, whatever address the store holds: each daemon reaches only its own
 * connector.
 */
export function openTransports(options: Pick<GuardOptions, 'allowPrivate' | 'allow'>): Transports {
  const receivers = openWebhookClient(createGuard(options));
  const allowOrigins: string[] = [];
  const trusting = openWebhookClient(createGuard({ ...options, allowOrigins }));
  let own: Transport | undefined;
  return {
    http: receivers.http,
    ownTransport: (monitor) => (isOwnJob(monitor) ? own : undefined),
    openOwn(url) {
      allowOrigins.push(url);
      own = { http: trusting.http, url };
    },
    async close() {
      await Promise.all([receivers.close(), trusting.close()]);
    },
  };
}
