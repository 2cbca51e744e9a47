/**
 * Tests a monitor's webhook with the monitor's settings, even if the monitor is disabled. For the API, the command
 * and the dashboard.
 */
import type { Store } from '../../store/store.ts';
import { isOwnJob } from '../delivery/own-jobs.ts';
import { webhookAt } from '../delivery/post.ts';
import type { OwnTransport } from '../delivery/transport.ts';
import type { Monitor } from '../monitors/monitor.ts';
import { type TestDeps, type TestResult, testPayload, testWebhook } from './test-webhook.ts';

export interface MonitorTestDeps extends TestDeps {
  readonly store: Store;
  readonly ownTransport?: OwnTransport;
  readonly placeType: string;
}

/** What to post: the given body, the state of the entity, or else that of an invented company. */
export interface TestContent {
  readonly entity?: string | undefined;
  readonly body?: string | undefined;
}

/** `elsewhere`: the monitor is the job of a connector with another configuration. */
export type MonitorTest =
  | { readonly kind: 'posted'; readonly result: TestResult }
  | { readonly kind: 'no-webhook' | 'unknown-entity' | 'elsewhere' };

/** Posts one payload; `entity` is canonical. Answers within 15 s. */
export async function testMonitor(
  deps: MonitorTestDeps,
  monitor: Pick<Monitor, 'owner' | 'url' | 'security'>,
  { entity, body }: TestContent,
  signal: AbortSignal,
): Promise<MonitorTest> {
  if (monitor.url === null) return { kind: 'no-webhook' };
  const own = deps.ownTransport?.(monitor);
  if (own === undefined && isOwnJob(monitor)) return { kind: 'elsewhere' };
  const payload = body ?? (await testPayload(deps.store.db, entity, { ...deps, now: deps.now() }));
  if (payload === undefined) return { kind: 'unknown-entity' };
  const { http, url } = own ?? { http: deps.http, url: monitor.url };
  const webhook = webhookAt(url, monitor.security);
  return { kind: 'posted', result: await testWebhook({ ...deps, http }, webhook, payload, signal) };
}
