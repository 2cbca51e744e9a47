/** A configuration that is read again: its parts take the place of those that run, and only addresses need a restart. */

import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type App, type AppOptions, startApp } from '../src/app.ts';
import { type Config, checkConfig } from '../src/config/load.ts';
import { linkRecord } from '../src/connector/links/links.ts';
import { findProposals } from '../src/connector/proposals/proposals.ts';
import { listVersions } from '../src/runtime/config-versions.ts';
import { ALWAYS, handwritten } from './connector/rules/fixture.ts';
import { ENTITY, renamed } from './faults/company.ts';
import { runCli } from './support/cli.ts';
import { type Connections, configFor, postWebhook, startCrms } from './support/fixture.ts';
import { newFolder, newStoreUrl, SUITE_ENGINES } from './support/stores.ts';

const BEAT_MS = 20;

async function loaded(content: object): Promise<Config> {
  const read = await checkConfig(content, join(newFolder(), 'cvrsync.yaml'), {});
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  return read.config;
}

interface Line {
  readonly msg: string;
  readonly differs?: string;
}

async function scene(engine: (typeof SUITE_ENGINES)[number] = 'sqlite') {
  const crms = await startCrms();
  const url = await newStoreUrl(engine);
  const service = {
    ...{ register: { source: 'file', path: newFolder() }, webhooks: { allowPrivateAddresses: true } },
    secretKey: randomBytes(32).toString('base64'),
  };
  const content = (connections: Connections, more: object = {}): object => ({
    ...configFor(crms, url, { connections, service }),
    ...more,
  });
  const lines: Line[] = [];
  const start = async (given: object, more: Partial<AppOptions> = {}): Promise<App> => {
    const log = pino({ level: 'info' }, { write: (text: string) => lines.push(JSON.parse(text)) });
    const app = await startApp(await loaded(given), { log, env: {}, beatMs: BEAT_MS, ...more });
    onTestFinished(() => app.close(0));
    return app;
  };
  const link = ({ store }: App, provider: string, recordId: string) =>
    store.write((tx) => linkRecord(tx, { provider, recordId, entity: ENTITY, sendUpdate: false, now: Date.now() }));
  return { crms, url, content, lines, start, link };
}

const jobsOf = async ({ store }: App): Promise<readonly (string | null)[]> =>
  (await store.db.selectFrom('monitor').select('provider').orderBy('provider').execute()).map(
    ({ provider }) => provider,
  );

describe.each(SUITE_ENGINES)('a daemon on %s whose configuration is read again', (engine) => {
  it('opens a connection with its job, and closes one once that is accepted', async () => {
    const { crms, content, start, link } = await scene(engine);
    const app = await start(content({ salesforce: false }));
    expect(await jobsOf(app)).toEqual(['hubspot']);
    await app.reload(await loaded(content({})));
    expect(await jobsOf(app)).toEqual(['hubspot', 'salesforce']);
    const [hubspot, salesforce] = [crms.hubspot.add({ name: 'A ApS' }), crms.salesforce.add({ Name: 'A ApS' })];
    await link(app, 'hubspot', hubspot);
    await link(app, 'salesforce', salesforce);
    await postWebhook(`${app.url}/webhook`, renamed('A ApS', 'B ApS', 8));
    await app.connector?.drained();
    expect([crms.hubspot.get(hubspot)?.['name'], crms.salesforce.get(salesforce)?.['Name']]).toEqual([
      'B ApS',
      'B ApS',
    ]);

    const without = await loaded(content({ hubspot: false }));
    await app.reload(without);
    expect(app.connector?.crms.map(({ name }) => name).toSorted()).toEqual(['hubspot', 'salesforce']);
    await postWebhook(`${app.url}/webhook`, renamed('B ApS', 'C ApS', 9));
    await app.connector?.drained();
    expect(crms.hubspot.get(hubspot)).toMatchObject({ name: 'C ApS' });
    const file = join(newFolder(), 'cvrsync.yaml');
    await writeFile(file, JSON.stringify(content({ hubspot: false })));
    expect((await runCli(['--config', file, 'config', 'apply', 'hubspot', '--yes'])).code).toBe(0);
    await expect.poll(() => app.connector?.crms.map(({ name }) => name)).toEqual(['salesforce']);
    await postWebhook(`${app.url}/webhook`, renamed('C ApS', 'D ApS', 10));
    await app.connector?.drained();
    expect([crms.hubspot.get(hubspot)?.['name'], crms.salesforce.get(salesforce)?.['Name']]).toEqual([
      'C ApS',
      'D ApS',
    ]);
  });

  it('answers every webhook while its parts are replaced, and names the ports that need a restart', async () => {
    const { content, start } = await scene(engine);
    const app = await start(content({}));
    const over = new AbortController();
    const answers: number[] = [];
    const sender = (async () => {
      for (let hour = 0; !over.signal.aborted; hour += 1)
        answers.push(await postWebhook(`${app.url}/webhook`, renamed('A ApS', `B${hour} ApS`, 8)));
    })();
    for (const port of [1, 2, 3]) {
      const read = await loaded(
        content({ hubspot: { reconcileHours: port } }, { admin: { port }, retention: { bodies: port } }),
      );
      const { changed, needsRestart } = await app.reload(read);
      expect(changed).toEqual(
        ['admin.openMetrics', 'connector.providers.hubspot.reconcileHours', 'retention.bodies'].slice(
          port === 1 ? 0 : 1,
        ),
      );
      expect(needsRestart).toEqual(['admin.port']);
      expect((await fetch(`${app.adminUrl}/live`)).status).toBe(200);
    }
    over.abort();
    await sender;
    expect(answers.length).toBeGreaterThan(3);
    expect(new Set(answers)).toEqual(new Set([204]));
    expect(await listVersions(app.store.db, { limit: 9 })).toHaveLength(4);
  });
});

it('follows at once what is accepted over its own API', async () => {
  const { crms, content, start, link } = await scene();
  const token = 'a-token-of-some-length';
  const app = await start(content({}, { admin: { token } }), { beatMs: 600_000 });
  const id = crms.hubspot.add({ name: 'A ApS' });
  await link(app, 'hubspot', id);
  await app.reload(await loaded(content({ hubspot: false }, { admin: { token } })));
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ provider: 'hubspot' });
  const accepted = await fetch(`${app.adminUrl}/admin/api/config/apply`, { method: 'POST', headers, body });
  expect(accepted.status).toBe(200);
  await expect.poll(() => app.connector?.crms.map(({ name }) => name)).toEqual(['salesforce']);
});

it('goes on as before if a part of the new configuration does not start', async () => {
  const { crms, content, start, link } = await scene();
  const app = await start(content({}));
  const id = crms.hubspot.add({ name: 'A ApS' });
  await link(app, 'hubspot', id);
  const read = await loaded(content({ hubspot: { reconcileHours: 5 } }));
  const broken = (read.connector?.providers ?? []).map((each) => ({
    ...each,
    provider: {
      ...each.provider,
      connect(): never {
        throw new Error('no room');
      },
    },
  }));
  const unusable = { ...read, ...(read.connector && { connector: { ...read.connector, providers: broken } }) };
  await expect(app.reload(unusable)).rejects.toThrow('no room');
  await postWebhook(`${app.url}/webhook`, renamed('A ApS', 'B ApS', 8));
  await app.connector?.drained();
  expect(crms.hubspot.get(id)).toMatchObject({ name: 'B ApS' });
  await app.reload(read);
  expect(app.connector?.crms.find(({ name }) => name === 'hubspot')?.reconcileHours).toBe(5);
});

it('proposes the file that changed on disk while a former proposal waited and was accepted', async () => {
  const { start } = await handwritten('sqlite', 1);
  const names = [{ property: 'name', policy: 'always' }, 'selskabsstatus'];
  const other = { hubspot: { fields: { name: names } } };
  const next = await start(other);
  await next.app.close(0);
  const onDisk = (await checkConfig(JSON.parse(next.content), next.file, {})) as { readonly config: Config };
  const started: { app?: App } = {};
  const second = await start(ALWAYS, { beatMs: BEAT_MS, reread: () => void started.app?.reload(onDisk.config) });
  started.app = second.app;
  await second.app.connector?.drained();
  expect((await second.cli('config', 'apply', 'hubspot', '--yes')).code).toBe(0);
  const waits = async () =>
    (await findProposals(second.app.store.db, onDisk.config.connector?.providers ?? [])).flatMap(({ changes }) =>
      changes.map(({ subject }) => subject),
    );
  await expect
    .poll(
      async () =>
        (await second.app.store.db.selectFrom('kv').select('key').where('key', '=', 'proposal:hubspot').execute())
          .length,
    )
    .toBe(1);
  expect(await waits()).toEqual(['name → selskabsstatus']);
});

describe('two replicas whose files differ', () => {
  it('are named in the log, in check and in the difference, and the newer file counts once it is alone', async () => {
    const { content, lines, start } = await scene('postgres');
    const first = await start(content({ hubspot: { reconcileHours: 3 } }));
    const second = await start(content({ hubspot: { reconcileHours: 4 } }));
    const said = () => lines.filter(({ msg }) => msg.startsWith('this file differs from the accepted'));
    expect(said()).toMatchObject([{ differs: 'connector.providers.hubspot' }]);
    const file = join(newFolder(), 'cvrsync.yaml');
    await writeFile(file, JSON.stringify(content({ hubspot: { reconcileHours: 3 } })));
    const cli = (...argv: readonly string[]) => runCli(['--config', file, ...argv]);
    expect((await cli('config', 'diff')).stdout).toContain('has a file that differs from the accepted configuration');
    expect((await cli('--json', 'check')).stdout).toContain(
      'differs from the accepted configuration (version 1) in connector.providers.hubspot',
    );
    const versions = async () => (await listVersions(second.store.db, { limit: 9 })).length;
    expect(await versions()).toBe(1);
    await first.close(0);
    await expect.poll(versions).toBe(2);
  });
});
