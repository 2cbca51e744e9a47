/** Companies in both emulated CRMs with the installation's own service, for tests that leave one of the CRMs. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { type App, startApp } from '../../../src/app.ts';
import { type Config, checkConfig } from '../../../src/config/load.ts';
import { rememberMaking } from '../../../src/connector/crm/made-properties.ts';
import { listLinks } from '../../../src/connector/links/links.ts';
import { requestLeave } from '../../../src/operations/connector/leaving.ts';
import { type OperationCaller, perform } from '../../../src/operations/definition/operation.ts';
import { confirmRun } from '../../../src/operations/installation/runs.ts';
import type { Writable } from '../../../src/protocol/payload.ts';
import { countItems } from '../../../src/runtime/runs/run-items.ts';
import { findRun } from '../../../src/runtime/runs/runs.ts';
import { ENTITY, OTHER, renamed } from '../../faults/company.ts';
import { type FixtureOptions, postWebhook, startFixture } from '../../support/fixture.ts';
import { newFolder } from '../../support/stores.ts';

export const IDA: OperationCaller = { actor: { kind: 'operator', name: 'Ida' }, via: 'page', role: 'admin' };
/** Where the properties were made: the emulated account. */
export const IN_HUBSPOT = { provider: 'hubspot', account: '24680135' };
const MADE = ['cvr_name', 'cvr_city'];

interface Asked {
  readonly undo?: boolean;
  readonly removeProperties?: boolean;
}

/** Two companies in HubSpot, one of them in Salesforce, too. cvrsync wrote their names, and made two properties. */
export async function startScene(options: FixtureOptions = {}) {
  const service = {
    ...{ register: { source: 'file', path: newFolder() }, webhooks: { allowPrivateAddresses: true } },
    secretKey: randomBytes(32).toString('base64'),
  };
  const fixture = await startFixture({ service, ...options });
  const { store } = fixture.app;
  const made = new Map(MADE.map((name) => [name, 'made'] as const));
  await store.write((tx) => rememberMaking(tx, IN_HUBSPOT, made, 1));
  const first = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  const second = await fixture.addLinked('hubspot', OTHER, { name: 'C ApS' });
  const account = await fixture.addLinked('salesforce', ENTITY, { Name: 'A ApS' });
  await fixture.post(renamed('A ApS', 'B ApS'));
  await fixture.post(renamed('C ApS', 'D ApS', 9, OTHER));
  await fixture.settled();
  return {
    ...{ ...fixture, ...looksAt(fixture.app), store, first, second, account },
    nameOf: (id: string) => fixture.hubspot.get(id)?.['name'],
    /** Has the daemon read a file with other connections. */
    async reload(change: (providers: Providers) => object) {
      const content: Content = JSON.parse(await readFile(fixture.configFile, 'utf8'));
      const connector = { ...content.connector, providers: change(content.connector.providers) };
      await fixture.app.reload(await checked({ ...content, connector }, fixture.configFile));
    },
    /** Another daemon with the same configuration. */
    async restart() {
      const content: unknown = JSON.parse(await readFile(fixture.configFile, 'utf8'));
      const app = await startApp(await checked(content, fixture.configFile), {
        log: pino({ level: 'silent' }),
        env: {},
      });
      onTestFinished(() => app.close(0));
      return { ...looksAt(app), store: app.store, app };
    },
  };
}

type Providers = Readonly<Record<string, object>>;

interface Content {
  readonly connector: { readonly providers: Providers };
}

async function checked(content: unknown, file: string): Promise<Config> {
  const read = await checkConfig(content, file, {});
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  return read.config;
}

/** What a test asks of a daemon. */
function looksAt({ store, connector, url }: App) {
  const needs = {
    ...{ store, now: Date.now, crms: connector?.crms ?? [], wake: connector?.wake },
    openCrm: async () => Promise.reject(new Error('no CRM is opened')),
  };
  const ended = async (id: number, ...states: readonly string[]) => {
    await expect.poll(async () => (await findRun(store.db, id))?.state, { timeout: 60_000 }).toBeOneOf(states);
    return findRun(store.db, id);
  };
  const preview = async ({ undo = false, removeProperties = false }: Asked = {}) => {
    const { id } = await perform(requestLeave, { provider: 'hubspot', undo, removeProperties }, needs, IDA);
    await ended(id, 'done', 'failed');
    return id;
  };
  const confirm = (id: number) => perform(confirmRun, { run: id }, needs, IDA);
  return {
    ...{ needs, ended, preview, confirm },
    counts: async (id: number) => Object.fromEntries(await countItems(store.db, id)),
    /** Previews, confirms, and returns the run once it is over. */
    async leave(asked: Asked = {}) {
      const id = await preview(asked);
      await confirm(id);
      return ended(id, 'done', 'failed', 'cancelled');
    },
    /** What the service watches for each CRM. */
    async items() {
      const rows = await store.db
        .selectFrom('item')
        .innerJoin('monitor', 'monitor.id', 'item.monitor')
        .select(['provider', 'entity'])
        .execute();
      return rows.map(({ provider, entity }) => `${provider} ${entity}`).toSorted();
    },
    async states() {
      return (await listLinks(store.db)).map(({ provider, state, observed }) => `${provider} ${state} ${observed}`);
    },
    post: (payload: Writable) => postWebhook(`${url}/webhook`, payload),
    settled: async () => connector?.drained(),
  };
}
