/** A daemon with a provider that misbehaves: no record gets the values of another, and none counts as written that is not. */
import { join } from 'node:path';
import { pino } from 'pino';
import Type from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import {
  CONTRACT_VERSION,
  type Connection,
  defineProvider,
  type Outcome,
  type PropertyValue,
  type Read,
} from '../../providers/provider.ts';
import { startApp } from '../../src/app.ts';
import { checkConfig } from '../../src/config/load.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { handClock } from '../support/clock.ts';
import { lanesBehind, postWebhook } from '../support/fixture.ts';
import { newFolder, newStoreUrl } from '../support/stores.ts';
import { reported } from './company.ts';

const IDS = ['11', '12', '13', '14'];
const entityOf = (id: string): string => `CVR-1-950123${id}`;
const nameOf = (id: string): string => `Company ${id} ApS`;

/** A CRM in memory, and a sound connection to it. */
function openMemory() {
  const held = new Map<string, Record<string, PropertyValue>>(IDS.map((id) => [id, { name: null }]));
  const connection: Connection = {
    check: async () => ({ id: 'memory', name: 'Memory', notes: [] }),
    properties: async () => [{ name: 'name', label: 'Name', type: 'string', writable: true }],
    read: async (ids) => ids.map((id): Read => ({ kind: 'found', id, properties: { ...held.get(id) } })),
    update: async (patches) =>
      patches.map(({ id, properties }): Outcome => {
        held.set(id, { ...held.get(id), ...properties });
        return { kind: 'written', id };
      }),
    scan: async () => ({ records: [] }),
  };
  return { held, connection };
}

/** Runs the daemon with a connection broken as told, and four companies that got a name; what the CRM holds in the end. */
async function run(breaks: (sound: Connection) => Partial<Connection>) {
  const { held, connection } = openMemory();
  const provider = defineProvider({
    name: 'memory',
    contract: CONTRACT_VERSION,
    about: 'a CRM in memory',
    settings: Type.Object({}),
    preset: [{ field: 'name', property: 'name', policy: 'tracked' }],
    limits: () => ({
      batch: { read: 10, update: 10 },
      concurrency: 1,
      budgets: { default: { calls: 100, perMs: 100 } },
    }),
    connect: async () => ({ ...connection, ...breaks(connection) }),
  });
  const entry = { use: 'http', updateUrl: 'http://127.0.0.1:9/', pollMinutes: 0, reconcileHours: 0 };
  const connector = { webhook: { auth: { method: 'None' } }, providers: { crm: entry } };
  const store = await newStoreUrl('sqlite');
  const loaded = await checkConfig({ server: { port: 0 }, store, connector }, join(newFolder(), 'sync.json'), {});
  if (!loaded.ok || loaded.config.connector === undefined) throw new Error(JSON.stringify(loaded));
  const providers = loaded.config.connector.providers.map((each) => ({
    ...each,
    provider,
    settings: {},
    mapping: provider.preset,
  }));
  const clock = handClock();
  const config = { ...loaded.config, connector: { ...loaded.config.connector, providers } };
  const app = await startApp(config, { log: pino({ level: 'silent' }), env: {}, now: clock.now });
  onTestFinished(() => app.close(0));
  await app.store.write(async (tx) => {
    for (const id of IDS)
      await linkRecord(tx, {
        provider: 'crm',
        recordId: id,
        entity: entityOf(id),
        sendUpdate: false,
        now: clock.now(),
      });
  });
  for (const id of IDS) {
    const event = reported({ name: { before: null, after: nameOf(id) } }, 8, entityOf(id));
    expect(await postWebhook(`${app.url}/webhook`, event)).toBe(204);
  }
  const atRest = () =>
    expect
      .poll(
        () => {
          clock.forward(5_000);
          return lanesBehind(app.store);
        },
        { timeout: 120_000, interval: 20 },
      )
      .toEqual([]);
  return { app, held, atRest };
}

const ALL_RIGHT = Object.fromEntries(IDS.map((id) => [id, { name: nameOf(id) }]));

test('a plugin that answers for the first record alone is called again until every one is written', async () => {
  const { held, atRest } = await run((sound) => ({
    read: async (ids, names, signal) => (await sound.read(ids, names, signal)).slice(0, 2),
    update: async (patches, signal) => sound.update(patches.slice(0, 1), signal),
  }));
  await atRest();
  expect(Object.fromEntries(held)).toEqual(ALL_RIGHT);
});

test('a plugin that lies about the order writes no company over another', async () => {
  const { app, held, atRest } = await run((sound) => ({
    read: async (ids, names, signal) => (await sound.read(ids, names, signal)).toReversed(),
    update: async (patches, signal) => (await sound.update(patches, signal)).toReversed(),
  }));
  await atRest();
  expect(Object.fromEntries(held)).toEqual(ALL_RIGHT);
  const history = await app.store.db.selectFrom('history').selectAll().where('outcome', '=', 'written').execute();
  expect(history.length).toBe(IDS.length);
  expect(history.every((row) => JSON.stringify(row).includes(nameOf(row.record_id ?? '')))).toBe(true);
});

test('a plugin that answers for the record of another batch is not believed', async () => {
  let lies = 3;
  const { held, atRest } = await run((sound) => ({
    update: async (patches, signal) => {
      if (lies-- > 0) return patches.map((): Outcome => ({ kind: 'gone', id: '99' }));
      return sound.update(patches, signal);
    },
  }));
  await atRest();
  expect(Object.fromEntries(held)).toEqual(ALL_RIGHT);
});

test('a plugin that throws for one record holds back only that one', async () => {
  const { app, held } = await run((sound) => ({
    update: async (patches, signal) => {
      if (patches.some(({ id }) => id === '12')) throw new TypeError('cannot read properties of undefined');
      return sound.update(patches, signal);
    },
  }));
  await expect
    .poll(() => IDS.filter((id) => held.get(id)?.['name'] === nameOf(id)), { timeout: 120_000 })
    .toEqual(['11', '13', '14']);
  const [behind] = await lanesBehind(app.store);
  expect(behind).toContain('crm: its update failed, which is a bug of the provider: cannot read properties');
});

test('a plugin that hangs does not keep the daemon from stopping', async () => {
  const started = Promise.withResolvers<void>();
  const { app } = await run(() => ({
    read: () => {
      started.resolve();
      return new Promise<never>(() => {});
    },
  }));
  await started.promise;
  const began = performance.now();
  await app.close(0);
  expect(performance.now() - began).toBeLessThan(5_000);
});
