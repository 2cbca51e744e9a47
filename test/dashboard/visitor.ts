/** The dashboard alone on a real server, and visitors as browsers are: they keep cookies and send forms. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { onTestFinished } from 'vitest';
import type { Crm } from '../../src/connector/crm/crm.ts';
import { addDashboard } from '../../src/dashboard/dashboard.ts';
import type { Installation } from '../../src/dashboard/installation/installation.ts';
import type { SingleSignOnSettings } from '../../src/dashboard/sign-in/single-sign-on.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { type OutboundHttp, openClient } from '../../src/http/outbound/client.ts';
import { createServer } from '../../src/http/server/server.ts';
import type { ConfigNeeds } from '../../src/operations/installation/configuration.ts';
import { createOperator, type Role } from '../../src/runtime/operators/operators.ts';
import { startSession } from '../../src/runtime/operators/sessions.ts';
import { openTransports } from '../../src/service/delivery/transport.ts';
import type { Secrets } from '../../src/service/keys/secrets.ts';
import type { MonitorOptions } from '../../src/service/monitors/monitor-input.ts';
import { createAccess } from '../../src/service/routes/access.ts';
import type { ServiceManagement } from '../../src/service/service.ts';
import { testMonitor } from '../../src/service/test-webhook/test-monitor.ts';
import type { Store } from '../../src/store/store.ts';
import { secrets } from '../service/monitored.ts';
import { NO_CONFIGURATION } from '../support/configuration.ts';
import { type ENGINES, newFolder, newStore } from '../support/stores.ts';

/** An answer as a visitor sees it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

export interface Visitor {
  readonly cookies: Map<string, string>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Posts fields, with the form token of the page that was last seen if they name none. */
  post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** The same with names that come several times. */
  postAll(path: string, fields: URLSearchParams): Promise<Answer>;
  /** Posts a form with a file in its field `file`. */
  upload(path: string, fields: Readonly<Record<string, string>>, file: string): Promise<Answer>;
  signIn(token: string): Promise<Answer>;
}

const tokenIn = (text: string): string | undefined => /name="_form" value="([^"]+)"/.exec(text)?.[1];

/** A browser that begins without cookies. */
export function newVisitor(base: string): Visitor {
  const cookies = new Map<string, string>();
  let seen = '';
  async function ask(path: string, method: 'GET' | 'POST', headers: object, body?: string): Promise<Answer> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await request(base + path, {
      method,
      headers: { accept: 'text/html', ...(cookie !== '' && { cookie }), ...headers },
      ...(body !== undefined && { body }),
    });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await answer.body.text();
    seen = tokenIn(text) ?? seen;
    return { status: answer.statusCode, headers: answer.headers, text };
  }
  const visitor: Visitor = {
    cookies,
    get: (path, headers = {}) => ask(path, 'GET', headers),
    post(path, fields, headers = { 'sec-fetch-site': 'same-origin' }) {
      const body = new URLSearchParams({ _form: seen, ...fields }).toString();
      return ask(path, 'POST', { 'content-type': 'application/x-www-form-urlencoded', ...headers }, body);
    },
    postAll(path, fields) {
      const body = `${fields}&_form=${encodeURIComponent(seen)}`;
      const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
      return ask(path, 'POST', headers, body);
    },
    upload(path, fields, file) {
      const boundary = 'a-boundary-of-ours';
      const part = (name: string, value: string, more = ''): string =>
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
      const texts = Object.entries({ _form: seen, ...fields }).map(([name, value]) => part(name, value));
      const body = `${texts.join('')}${part('file', file, '; filename="plan.csv"')}--${boundary}--\r\n`;
      const type = `multipart/form-data; boundary=${boundary}`;
      return ask(path, 'POST', { 'sec-fetch-site': 'same-origin', 'content-type': type }, body);
    },
    async signIn(token) {
      await visitor.get('/login');
      return visitor.post('/login', { token, next: '/' });
    },
  };
  return visitor;
}

/** A browser of an admin whose session began without a sign-in, and without an entry in the audit. */
export async function adminAt(base: string, store: Store, now = Date.now): Promise<Visitor> {
  const visitor = newVisitor(base);
  const session = await store.write(async (tx) => {
    await createOperator(tx, { name: HERE, role: 'admin' }, now());
    return await startSession(tx, { operator: HERE, agent: '' }, now());
  });
  visitor.cookies.set('cvrsync_session', session);
  return visitor;
}

const HERE = 'somebody here';

export interface Pages {
  readonly base: string;
  readonly store: Store;
  /** The patterns of all paths that take forms. */
  readonly posts: readonly string[];
  /** Every route of the server, as `GET /companies/:id`. */
  readonly routes: readonly string[];
  /** All that the pages wrote into the log. */
  readonly logged: readonly string[];
  /** Ends the server, as if the daemon died. */
  close(): Promise<void>;
  /** Makes an operator; the token. */
  operator(name: string, role: Role): Promise<string>;
  visitor(): Visitor;
  /** An admin, of whose sign-in the audit knows nothing. */
  admin(): Promise<Visitor>;
  /** An operator who has signed in. */
  signedIn(role: Role): Promise<Visitor>;
}

/** The service's part, with webhooks on loopback. */
function management(
  { store, secrets }: { readonly store: Store; readonly secrets: Secrets },
  now: () => number,
  monitorOptions: MonitorOptions,
): ServiceManagement {
  const transports = openTransports({ allowPrivate: true, allow: [] });
  onTestFinished(() => transports.close());
  const deps = { ...transports, store, now, placeType: 'Place' };
  return {
    secrets,
    wakeUp: { ring: () => undefined },
    monitorOptions,
    register: {
      sources: [{ name: 'cvr', origin: 'cvr', parts: (cursor) => JSON.parse(cursor) }],
      from: 'https://register.example',
      canFind: true,
    },
    testMonitor: (monitor, content) => testMonitor(deps, monitor, content, new AbortController().signal),
    access: createAccess({ store, now, requestsPerMinute: 500 }),
  };
}

/** An installation with a finding of each kind. */
const INSTALLATION: Installation = {
  version: '1.2.3',
  startedAt: 0,
  shownConfig: () => ({ config: { smtp: { from: 'ida@example.com', user: 'smtp' } } }),
  // The secret is a word that stands in keys, too.
  mask: (text) => text.replaceAll('smtp', '***'),
  quickFindings: async () => [
    { level: 'warn', subject: 'store', found: '<script>alert(1)</script>', advice: 'make room' },
  ],
  allFindings: async () => [{ level: 'fail', subject: 'hubspot', found: 'did not answer in time' }],
};

const nobody: OutboundHttp = () => Promise.reject(new Error('nobody is called'));

function clientUntilTheEnd(): OutboundHttp {
  const client = openClient();
  onTestFinished(() => client.close());
  return client.http;
}

/** The dashboard on a store without rows, on its own; all of it ends with the test. */
export async function startPages({
  engine = 'sqlite',
  now = Date.now,
  halves = { connector: true, service: true },
  crms = [],
  singleSignOn,
  viewersSeePersons,
  wake,
  monitorOptions = {},
  trustProxy = [],
  ...given
}: {
  readonly engine?: (typeof ENGINES)[number];
  readonly now?: () => number;
  readonly halves?: { readonly connector: boolean; readonly service: boolean };
  readonly crms?: readonly Crm[];
  /** With it the issuer is called for real. */
  readonly singleSignOn?: SingleSignOnSettings;
  readonly viewersSeePersons?: boolean;
  readonly wake?: () => void;
  readonly monitorOptions?: MonitorOptions;
  readonly trustProxy?: readonly string[];
  /** A new one where absent. */
  readonly store?: Store;
  readonly secrets?: Secrets;
  readonly configuration?: ConfigNeeds['configuration'];
  readonly timeZone?: string;
} = {}): Promise<Pages> {
  const store = given.store ?? (await newStore(engine));
  const part = { store, secrets: given.secrets ?? secrets };
  const server = createServer({ trustProxy });
  const posts: string[] = [];
  const routes: string[] = [];
  server.addHook('onRoute', ({ method, url }) => {
    if (method === 'POST') posts.push(url);
    routes.push(...[method].flat().map((one) => `${one} ${url}`));
  });
  const logged: string[] = [];
  const note = (...parts: readonly unknown[]) => void logged.push(JSON.stringify(parts));
  const log = { error: note, warn: note };
  const service = halves.service ? management(part, now, monitorOptions) : undefined;
  const more = {
    http: singleSignOn === undefined ? nobody : clientUntilTheEnd(),
    singleSignOn,
    viewersSeePersons,
    timeZone: given.timeZone,
    wake,
    metrics: createMetrics(),
    hasUpstream: false,
    emailEvent: 'email',
    configuration: given.configuration ?? NO_CONFIGURATION,
    settings: {
      place: { file: join(newFolder(), 'cvrsync.yaml'), samples: '', admin: {}, server: {} },
      env: {},
      digest: () => ({
        ...{ place: '', dashboard: undefined, language: undefined, timeZone: 'Europe/Copenhagen' },
        alerts: undefined,
      }),
      reread: () => undefined,
    },
  };
  const installation = { ...INSTALLATION, startedAt: now() };
  writeFileSync(more.settings.place.file, '{}\n');
  addDashboard(server, { store, now, log, crms, halves, service, installation, ...more });
  const base = await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.close());
  const operator = async (name: string, role: Role): Promise<string> =>
    (await store.write((tx) => createOperator(tx, { name, role }, now()))) ?? '';
  return {
    base,
    store,
    posts,
    routes,
    logged,
    close: () => server.close(),
    operator,
    visitor: () => newVisitor(base),
    admin: () => adminAt(base, store, now),
    async signedIn(role) {
      const visitor = newVisitor(base);
      await visitor.signIn(await operator(`the ${role}`, role));
      return visitor;
    },
  };
}
