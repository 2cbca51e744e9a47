/** One store with the three faces of its operations: the command line, the API and the pages. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection } from '../../providers/provider.ts';
import { type AuditRow, readAudit } from '../../src/runtime/operators/audit.ts';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import type { MonitorInput } from '../../src/service/monitors/monitor-input.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import type { Store } from '../../src/store/store.ts';
import { startPages, type Visitor } from '../dashboard/visitor.ts';
import { openHarness } from '../service/routes/harness.ts';
import { runCli } from '../support/cli.ts';
import { checked } from '../support/config.ts';
import { NO_CONFIGURATION } from '../support/configuration.ts';
import { crmOf } from '../support/crm.ts';
import { type ENGINES, newFolder, newStoreUrl, opened } from '../support/stores.ts';

export const FACES = ['command', 'api', 'page'] as const;
export type Face = (typeof FACES)[number];

/** How one operation is asked for on each face; absent on a face that does not have it. */
export interface Asked {
  readonly command?: readonly string[];
  readonly api?: readonly [method: string, path: string, body?: object];
  readonly page?: readonly [path: string, fields: Readonly<Record<string, string>>];
}

/** What a face answered. `status` is that of HTTP; of a command, what its exit code stands for. */
export interface Answered {
  readonly status: number;
  readonly text: string;
}

export type Faces = Awaited<ReturnType<typeof openFaces>>;

/** A connection whose CRM holds what a case puts there. */
const connection: Connection = {
  check: async () => ({ id: '1', name: 'x', notes: [] }),
  properties: async () => [],
  read: async (ids) => ids.map((id) => ({ kind: 'found', id, properties: {} })),
  update: async (patches) => patches.map(({ id }) => ({ kind: 'written', id })),
  scan: async () => ({ records: [] }),
};

export async function openFaces(engine: (typeof ENGINES)[number]) {
  const url = await newStoreUrl(engine);
  const store = await opened(url);
  const secretKey = randomBytes(32);
  const secrets = openSecrets(secretKey);
  const folder = newFolder();
  const file = join(folder, 'cvrsync.json');
  const register = { source: 'file', path: folder };
  const service = { register, secretKey: secretKey.toString('base64'), webhooks: { allow: ['127.0.0.1'] } };
  const hubspot = { use: 'hubspot', accessToken: 'x', baseUrl: 'http://127.0.0.1:9' };
  const content = { store: url, service, connector: { webhook: { auth: { method: 'None' } }, providers: { hubspot } } };
  await writeFile(file, JSON.stringify(content));
  const { config } = await checked(content);
  const configuration = { ...NO_CONFIGURATION, rules: () => config.connector?.providers ?? [] };
  const crm = crmOf({ connection, mapping: [], properties: [], match: 'cvr', store, now: Date.now });
  const mapping = [{ field: 'name', property: 'name', policy: 'tracked' }] as const;
  const crms = [crm, { ...crm, name: 'hubspot', mapping }];
  const api = await openHarness(engine, { store, secrets, configuration, crms });
  const pages = await startPages({ engine, store, secrets, configuration, crms });
  const admin = await pages.admin();
  // Its form token is that of every form.
  await admin.get('/keys');
  return {
    store,
    admin,
    /** What the file says of its connection. */
    rules: configuration.rules,
    make: (input: Partial<MonitorInput> = {}) =>
      store.write((tx) =>
        createMonitor(tx, { name: 'Sales', url: 'https://hooks.example.com/cvr', ...input }, { secrets, now: 1 }),
      ),
    /** Asks one face; the entries of the audit that it left, and the answer. */
    async audited(face: Face, asked: Asked): Promise<readonly [readonly AuditRow[], Answered]> {
      const before = (await readAudit(store.db, {}, 1))[0]?.id ?? 0;
      const { command, api: [method, path, body] = [], page } = asked;
      const answered =
        face === 'command' && command !== undefined
          ? await commandLine(file, command)
          : face === 'page' && page !== undefined
            ? await submit(admin, ...page)
            : await api.call(method ?? '', `/admin/api${path}`, { body });
      return [(await readAudit(store.db, {}, 20)).filter(({ id }) => id > before), answered];
    },
  };
}

const EXIT_CODES = new Map([
  [0, 200],
  [2, 422],
]);

async function commandLine(file: string, argv: readonly string[]): Promise<Answered> {
  const { code, stdout, stderr } = await runCli(['--config', file, '--log-level', 'silent', ...argv]);
  const missing = /there is no|is not linked|not there \(any more\)|no answer to it/u.test(stdout + stderr) ? 404 : 409;
  return { status: EXIT_CODES.get(code) ?? missing, text: stdout + stderr };
}

async function submit(admin: Visitor, path: string, fields: Readonly<Record<string, string>>): Promise<Answered> {
  const { status, text } = await admin.post(path, fields);
  return { status, text };
}

/** Columns that differ between two monitors or keys that are equal otherwise: seals, digests and numbers. */
const OWN: ReadonlySet<string> = new Set(['security', 'url', 'hash', 'seq', 'change', 'entity_seq', 'run']);

/** What the store holds of a monitor or key, with its id and each time under one name. */
export async function rowsOf(store: Store, id: string): Promise<unknown> {
  const of = (table: 'item' | 'delivery' | 'unsubscribed') =>
    store.db.selectFrom(table).selectAll().where('monitor', '=', id).execute();
  const rows = {
    monitors: await store.db
      .selectFrom('monitor')
      .selectAll()
      .where((row) => row.or([row('id', '=', id), row('owner', '=', id)]))
      .execute(),
    keys: await store.db.selectFrom('api_key').selectAll().where('id', '=', id).execute(),
    items: await of('item'),
    deliveries: await of('delivery'),
    unsubscribed: await of('unsubscribed'),
    override: await store.db
      .selectFrom('override')
      .select(['property', 'kind', 'once', 'until', 'reason'])
      .where('record_id', '=', id)
      .execute(),
    link: await store.db
      .selectFrom('link')
      .select(['entity', 'state', 'desired', 'send_update'])
      .where('record_id', '=', id)
      .execute(),
    operator: await store.db
      .selectFrom('operator')
      .select(['role', 'revoked_at'])
      .where('name', '=', id)
      .executeTakeFirst(),
    lastRun: await store.db
      .selectFrom('run')
      .select(['task', 'input', 'stage', 'state', 'done', 'total', 'confirmed_at', 'ended_at'])
      .orderBy('id', 'desc')
      .executeTakeFirst(),
  };
  return anonymous(rows, id);
}

/** The same with the ids of other rows and each time under one name, so that it can be compared. */
export function anonymous(value: unknown, id: string): unknown {
  return JSON.parse(JSON.stringify(value), (name, part: unknown) => {
    if (OWN.has(name)) return part === null ? null : 'set';
    if (typeof part === 'number' && part > 1_000_000_000_000) return 'a time';
    if (typeof part !== 'string') return part;
    return part.replaceAll(id, 'ID').replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gu, 'ANOTHER');
  });
}
