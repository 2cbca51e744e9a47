/** The service's routes on a real port, over a store of their own. */
import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { addAdminApi } from '../../../src/admin-api/admin-api.ts';
import { type Crm, openedCrm } from '../../../src/connector/crm/crm.ts';
import { createGuard } from '../../../src/http/outbound/guard.ts';
import { createServer } from '../../../src/http/server/server.ts';
import type { ConfigNeeds } from '../../../src/operations/installation/configuration.ts';
import { createWakeUp, type WakeUp } from '../../../src/runtime/wake-up.ts';
import { openWebhookClient } from '../../../src/service/delivery/post.ts';
import { createKey, type Scope, USUAL_SCOPES } from '../../../src/service/keys/keys.ts';
import { openSecrets, type Secrets } from '../../../src/service/keys/secrets.ts';
import { createJob, type JobInput } from '../../../src/service/monitors/jobs.ts';
import { createAccess } from '../../../src/service/routes/access.ts';
import { addMonitoringRoutes } from '../../../src/service/routes/monitoring.ts';
import { testMonitor } from '../../../src/service/test-webhook/test-monitor.ts';
import type { Store } from '../../../src/store/store.ts';
import { type HandClock, stillClock } from '../../support/clock.ts';
import { NO_CONFIGURATION } from '../../support/configuration.ts';
import { type ENGINES, newStore } from '../../support/stores.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined if there is none. */
  readonly json: unknown;
}

export interface Harness {
  readonly url: string;
  readonly port: number;
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: HandClock;
  /** Every route, as `GET /admin/api/keys`. */
  readonly routes: readonly string[];
  /** What the server logged. */
  readonly logged: readonly unknown[];
  /** Queues that were rung, in order. */
  readonly rung: readonly string[];
  call(method: string, path: string, options?: { headers?: Record<string, string>; body?: unknown }): Promise<Answer>;
  key(scopes?: readonly Scope[], name?: string): Promise<{ readonly id: string; readonly key: string }>;
  job(key: string, provider: string, more?: Partial<JobInput>): Promise<string>;
}

export interface HarnessOptions {
  /** {@link ADMIN_TOKEN} where absent. */
  readonly adminToken?: string | undefined;
  readonly requestsPerMinute?: number;
  /** A new one where absent. */
  readonly store?: Store;
  readonly secrets?: Secrets;
  readonly configuration?: ConfigNeeds['configuration'];
  /** The connections; none where absent. */
  readonly crms?: readonly Crm[];
}

/** What `call` sends to `/admin` if no other proof is given. */
const ADMIN_TOKEN = 'the-token-of-the-operators';

/** Serves both kinds of routes; closed with the test. */
export async function openHarness(
  engine: (typeof ENGINES)[number] = 'sqlite',
  options: HarnessOptions = {},
): Promise<Harness> {
  const store = options.store ?? (await newStore(engine));
  const secrets = options.secrets ?? openSecrets(randomBytes(32));
  const clock = stillClock();
  const logged: unknown[] = [];
  const rung: string[] = [];
  const log = {
    warn: (...line: unknown[]) => void logged.push(line),
    error: (...line: unknown[]) => void logged.push(line),
  };
  const real = createWakeUp();
  const wakeUp: WakeUp = {
    ring: (queue) => {
      rung.push(queue);
      real.ring(queue);
    },
    wait: real.wait,
    ringAll: real.ringAll,
  };
  const { now } = clock;
  const { requestsPerMinute = 500 } = options;
  const adminToken = 'adminToken' in options ? options.adminToken : ADMIN_TOKEN;
  const access = createAccess({ store, requestsPerMinute, now, log });
  const server = createServer({ log, trustProxy: ['127.0.0.1'] });
  const routes: string[] = [];
  server.addHook('onRoute', ({ method, url }) => void routes.push(...[method].flat().map((one) => `${one} ${url}`)));
  addMonitoringRoutes(server, { store, access, secrets, wakeUp, now, ownConnector: () => undefined });
  const client = openWebhookClient(createGuard({ allow: ['127.0.0.1'] }));
  const { http } = client;
  const posting = { store, now, http, placeType: 'Place' };
  addAdminApi(server, {
    ...{ store, now, adminToken, configuration: options.configuration ?? NO_CONFIGURATION },
    digest: () => ({
      ...{ place: 'https://sync.example.com', dashboard: undefined, language: undefined },
      ...{ timeZone: 'Europe/Copenhagen', alerts: undefined },
    }),
    installed: () => ({ crms: [], halves: { connector: false, service: true } }),
    connector: { crms: options.crms ?? [], openCrm: openedCrm(options.crms ?? []) },
    service: {
      ...{ access, secrets, wakeUp, options: {} },
      testMonitor: (monitor, content) => testMonitor(posting, monitor, content, new AbortController().signal),
    },
  });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await server.close();
    await client.close();
  });

  return {
    url,
    port: Number(new URL(url).port),
    store,
    secrets,
    clock,
    routes,
    logged,
    rung,
    async call(method, path, { headers = {}, body } = {}) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const proof = path.startsWith('/admin/') ? { authorization: `Bearer ${ADMIN_TOKEN}` } : {};
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const answer = await fetch(`${url}${path}`, { method, headers: { ...type, ...proof, ...headers }, ...sent });
      const text = await answer.text();
      const { status, headers: given } = answer;
      return { status, headers: given, text, json: text === '' ? undefined : JSON.parse(text) };
    },
    key: (scopes = USUAL_SCOPES, name = 'Nordlys A/S') => store.write((tx) => createKey(tx, { name, scopes }, now())),
    async job(key, provider, more = {}) {
      const input = { provider, key, url: 'https://hooks.example.com/cvr', ...more };
      return (await store.write((tx) => createJob(tx, input, { secrets, now: now() }))).id;
    },
  };
}

/** Paths of the monitoring endpoints with their queries. */
export const itemsAt = (provider: string, query: Record<string, string>): string =>
  `/apps/monitoring/jobs/thirdparty/${encodeURIComponent(provider)}/items?${new URLSearchParams(query)}`;

/** The problems that an answer names, as `path message`. */
export function problemsIn({ json }: Answer): string[] {
  if (typeof json !== 'object' || json === null || !('errors' in json) || !Array.isArray(json.errors)) return [];
  return json.errors.map((error: { path: string; message: string }) => `${error.path} ${error.message}`);
}
