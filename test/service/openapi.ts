/** The OpenAPI document of a whole process, and requests made of its examples. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type App, startApp } from '../../src/app.ts';
import { documentOf } from '../../src/commands/emulate/sample/document.ts';
import { endLeft, markLeft } from '../../src/connector/links/left.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { setOverride } from '../../src/connector/overrides/override.ts';
import { resolveReview } from '../../src/connector/review/resolve.ts';
import { UNDO } from '../../src/connector/undo/undo-task.ts';
import { sampleCompany } from '../../src/protocol/sample/company.ts';
import { createOperator } from '../../src/runtime/operators/operators.ts';
import { requestPreview } from '../../src/runtime/runs/runs.ts';
import { createKey, type Scope } from '../../src/service/keys/keys.ts';
import { endMail } from '../../src/service/mail/stopped-mails.ts';
import { unsubscribeUrl } from '../../src/service/mail/unsubscribe.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import type { Tx } from '../../src/store/store.ts';
import { checked } from '../support/config.ts';

type Schema = Readonly<Record<string, unknown>>;
type Content = Readonly<
  Record<
    string,
    {
      readonly schema: Schema;
      readonly example?: unknown;
      readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
    }
  >
>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  /** The listener that answers it. */
  readonly base: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters: readonly Parameter[];
  readonly body: { readonly schema: Schema; readonly example?: unknown } | undefined;
  /** By status, `4XX` for all of them. */
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export const ADMIN_TOKEN = 'the-token-of-the-operators';
const WEBHOOK_SECRET = 'a-secret-of-the-webhook';
/** Few enough to go over it. */
export const CALLS = 20;

export interface Process {
  readonly app: App;
  readonly document: Document;
  readonly operations: readonly Operation[];
  close(): Promise<void>;
}

/** Starts both halves on a register that has told of the company in the examples; `names` for those of the wire. */
export async function startProcess(
  names: { readonly emailEvent?: string; readonly placeType?: string } = {},
): Promise<Process> {
  const folder = await mkdtemp(join(tmpdir(), 'cvrsync-openapi-'));
  const company = { ...sampleCompany(), entityId: 'CVR-1-10000001' };
  const version = { company, from: '2020-01-01', at: Date.UTC(2020, 0, 1) };
  const register = join(folder, 'register.ndjson');
  await writeFile(register, `${JSON.stringify(documentOf([version]))}\n`);
  const auth = { method: 'Header', key: 'x-webhook-key', value: WEBHOOK_SECRET };
  const hubspot = { use: 'hubspot', accessToken: 'x', baseUrl: 'http://127.0.0.1:9', match: { property: 'cvr' } };
  const { config } = await checked({
    server: { port: 0, trustProxy: ['127.0.0.1'] },
    admin: { token: ADMIN_TOKEN, trustProxy: ['127.0.0.1'] },
    store: join(folder, 'store.db'),
    connector: { webhook: { auth }, providers: { hubspot }, ...(names.emailEvent && { emailEvent: names.emailEvent }) },
    service: {
      register: { source: 'file', path: register },
      webhooks: { allowPrivateAddresses: true },
      requestsPerMinute: CALLS,
      ...names,
    },
  });
  const app = await startApp(config, { log: pino({ level: 'silent' }), env: {} });
  await app.service?.drained();
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const document: Document = JSON.parse(await (await fetch(`${app.adminUrl}/openapi.json`, { headers })).text());
  const operations = Object.entries(document.paths).flatMap(([path, { servers = document.servers, ...item }]) =>
    METHODS.flatMap((method) => {
      const { parameters = [], security = [], requestBody, ...rest } = item[method] ?? {};
      const { operationId, tags, responses } = rest;
      if (operationId === undefined || tags === undefined || responses === undefined) return [];
      const body = requestBody?.content['application/json'];
      const known = { operationId, tags, responses, parameters, security, body };
      return [{ ...known, path, method: method.toUpperCase(), base: servers[0]?.url ?? '' }];
    }),
  );
  return {
    app,
    document,
    operations,
    async close() {
      await app.close(2_000);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const METHODS = ['get', 'post', 'patch', 'delete'] as const;

type RawOperation = Partial<Pick<Operation, 'operationId' | 'tags' | 'responses' | 'parameters' | 'security'>> & {
  readonly description?: string;
  readonly requestBody?: { readonly content: Content };
};
type Servers = readonly { readonly url: string }[];

interface Document {
  readonly servers: Servers;
  readonly paths: Readonly<
    Record<string, { readonly [M in (typeof METHODS)[number]]?: RawOperation } & { readonly servers?: Servers }>
  >;
  readonly webhooks: { readonly companyEvent: { readonly post: RawOperation } };
}

/** What an example cannot know: the ids of what is there, and keys. */
export interface Fixture {
  readonly key: string;
  /** By the name of a parameter, or of a property of a body. */
  readonly known: Readonly<Record<string, string>>;
}

/** Makes a key with a job, and a monitor; `url` is where they and tests are sent. */
export async function lay({ app }: Process, url: string, scopes: readonly Scope[]): Promise<Fixture> {
  const { store, service } = app;
  if (service === undefined) throw new Error('the service does not run');
  const { secrets } = service;
  const now = Date.now();
  return store.write(async (tx) => {
    const key = await createKey(tx, { name: 'Birk Byg', scopes }, now);
    const job = { name: 'job', owner: key.id, provider: 'hubspot', url, enabled: false };
    const { id: JobId } = await createMonitor(tx, job, { secrets, now });
    const monitor = await createMonitor(tx, { name: 'monitor', url, enabled: false }, { secrets, now });
    await endMail(tx, monitor.id, 'sales@example.com', { now });
    const token = new URL(unsubscribeUrl(app.url, secrets, monitor.id, 'sales@example.com')).searchParams.get('token');
    const run = await previewedRun(tx, now);
    const name = await revokedOperator(tx, now);
    const ids = { JobId, id: monitor.id, key: key.id, keyId: key.id, run, name };
    return { key: key.key, known: { ...ids, token: token ?? '', url } };
  });
}

/** Whether hubspot was left; nobody is leaving it. */
export const layLeft = ({ app: { store } }: Process, isLeft: boolean): Promise<unknown> =>
  store.write(async (tx) => {
    await tx.updateTable('run').set({ state: 'cancelled' }).where('task', '=', 'leave').execute();
    await endLeft(tx, 'hubspot');
    if (isLeft) await markLeft(tx, 'hubspot', { at: 1, by: 'ida', run: 1 });
  });

/** Has a configuration of hubspot wait, with a former version 3 that decides as the file does. */
export async function layConfiguration({ app: { store } }: Process, waits = true): Promise<void> {
  await store.write(async (tx) => {
    const row = await tx.selectFrom('config_version').selectAll().orderBy('id').executeTakeFirstOrThrow();
    for (const id of [3, 4].filter((each) => each > row.id))
      await tx
        .insertInto('config_version')
        .values({ ...row, id, accepted_by: 'ida' })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    const { mapping: rules } = { mapping: JSON.parse(row.content).connector['providers.hubspot.mapping'] };
    const accepted = {
      rules: waits ? { ...rules, mapping: (rules.mapping ?? []).slice(0, 1) } : rules,
      by: 'ida',
      at: 1,
    };
    await tx
      .updateTable('kv')
      .set({ value: JSON.stringify(accepted) })
      .where('key', '=', 'rules:hubspot')
      .execute();
  });
}

/** An operator of single sign-on who was revoked. */
async function revokedOperator(tx: Tx, now: number): Promise<string> {
  const name = `ida-${crypto.randomUUID()}`;
  for (const one of [name, 'bo']) await createOperator(tx, { name: one, role: 'viewer' }, now);
  await tx.updateTable('operator').set({ subject: name, revoked_at: now }).where('name', '=', name).execute();
  return name;
}

/** The record of the examples, with a hold on its name; and another one that was merged. */
export async function layRecord({ app: { store } }: Process): Promise<void> {
  const now = Date.now();
  await store.write(async (tx) => {
    const ref = { provider: 'hubspot', recordId: '8412345678' };
    for (const recordId of [ref.recordId, MERGED])
      await linkRecord(tx, { ...ref, recordId, entity: 'CVR-1-10000001', sendUpdate: false, now });
    await tx.updateTable('link').set({ state: 'merged' }).where('record_id', '=', MERGED).execute();
    await setOverride(tx, { ...ref, property: 'name' }, { kind: 'hold', once: false, until: null, reason: null }, now);
  });
}

/** The record of the examples as what an operation on entries of review is about. */
export async function layEntry({ app: { store } }: Process, operationId: string): Promise<void> {
  const isDecision = /^(?:accept|keep)/u.test(operationId);
  const entity = 'CVR-1-10000001';
  const ids = ['8412345678', MERGED];
  await store.write(async (tx) => {
    await tx.deleteFrom('match_result').execute();
    if (operationId === 'rejectMatch') {
      const [recordId = ''] = ids;
      const body = JSON.stringify({ recordId, position: 0, record: {}, candidates: [{ company: '10000001' }] });
      const row = { provider: 'hubspot', record_id: recordId, position: 0, confidence: 'likely', entity, body };
      await tx
        .insertInto('match_result')
        .values({ ...row, suggested_at: 1 })
        .execute();
      return;
    }
    for (const recordId of ids)
      await linkRecord(tx, { provider: 'hubspot', recordId, entity, sendUpdate: false, now: 1 });
    await tx
      .updateTable('link')
      .set(isDecision ? { state: 'conflict' } : { observed: 'refused' })
      .execute();
    if (operationId !== 'takeAnswerBack') return;
    for (const recordId of ids) await resolveReview(tx, 'drop', `link/hubspot/${recordId}`, 2);
    await tx.updateTable('link').set({ state: 'merged' }).where('record_id', '=', MERGED).execute();
  });
}

/** A record that the CRM merged into another one. */
export const MERGED = '8412345679';

/** An undo that waits for its confirmation. */
async function previewedRun(tx: Tx, now: number): Promise<string> {
  const asked = { input: { event: 1 }, actor: { kind: 'user', name: 'ida' }, via: 'command' } as const;
  const id = await requestPreview(tx, UNDO, asked, now);
  await tx.deleteFrom('lane').where('queue', '=', UNDO.queue).execute();
  await tx.updateTable('run').set({ state: 'done', ended_at: now }).where('id', '=', id).execute();
  return String(id);
}

/** How a caller proves who it is, by what the operation asks for. */
export function proofOf({ security, path }: Operation, key: string): Readonly<Record<string, string>> {
  if (security.some((way) => 'adminToken' in way)) return { authorization: `Bearer ${ADMIN_TOKEN}` };
  if (security.length > 0) return { 'x-access-key': key };
  return path === '/webhook' ? { 'x-webhook-key': WEBHOOK_SECRET } : {};
}

/** The address of an operation: its examples, and what is known in place of them. */
export function addressOf({ path, parameters }: Operation, known: Fixture['known']): string {
  const query = new URLSearchParams();
  let address = path;
  for (const { name, in: where, example } of parameters) {
    const value = String(known[name] ?? example ?? '');
    if (where === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== '' && !MADE.has(name)) query.set(name, value);
  }
  return query.size === 0 ? address : `${address}?${query}`;
}

/** Examples of what only an answer can give. */
const MADE: ReadonlySet<string> = new Set(['continuationToken']);
