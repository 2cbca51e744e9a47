import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { type App, startApp } from '../../../src/app.ts';
import { checkConfig } from '../../../src/config/load.ts';
import { readAttention } from '../../../src/connector/explain/attention.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { markRemapped } from '../../../src/connector/sync/remap.ts';
import { mark } from '../../../src/runtime/lanes/lanes.ts';
import { ENTITY, reported } from '../../faults/company.ts';
import { type Connections, configFor, postWebhook, startCrms } from '../../support/fixture.ts';
import { ENGINES, newFolder, newStore, newStoreUrl } from '../../support/stores.ts';
import { open, RECORD, report, sync, type World } from './two-syncs.ts';

async function start(config: object): Promise<App> {
  const loaded = await checkConfig(config, join(newFolder(), 'cvrsync.yaml'), {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  const app = await startApp(loaded.config, { log: pino({ level: 'silent' }), env: {} });
  onTestFinished(() => app.close(0));
  return app;
}

/** A record of HubSpot linked to the company, with a daemon that ran under the first configuration and has ended. */
async function ranUnder(before: Connections) {
  const crms = await startCrms({ hubspot: { properties: [{ name: 'selskabsstatus', type: 'string' }] } });
  const url = await newStoreUrl('sqlite');
  const id = crms.hubspot.add({ name: 'A ApS' });
  const first = await start(configFor(crms, url, { connections: before }));
  await first.store.write((tx) =>
    linkRecord(tx, { provider: 'hubspot', recordId: id, entity: ENTITY, sendUpdate: false, now: Date.now() }),
  );
  return { crms, url, id, first };
}

test('a field that is mapped later brings what was known of it to the records that are linked already', async () => {
  const { crms, url, id, first } = await ranUnder({ hubspot: { fields: { status: false } } });
  await postWebhook(`${first.url}/webhook`, reported({ status: { before: null, after: 'NORMAL' } }, 8));
  await first.connector?.drained();
  await first.close(1_000);
  expect(crms.hubspot.get(id)).toMatchObject({ selskabsstatus: null });

  const second = await start(
    configFor(crms, url, { connections: { hubspot: { fields: { status: 'selskabsstatus' } } } }),
  );
  await second.connector?.drained();
  expect(crms.hubspot.get(id)).toMatchObject({ selskabsstatus: 'NORMAL' });
});

test('a connection that was left out for a while gets what it missed when it is back', async () => {
  const { crms, url, id, first } = await ranUnder({});
  await first.connector?.drained();
  await first.close(1_000);

  const whole = configFor(crms, url);
  const without = structuredClone(whole) as { connector: { providers: { hubspot?: object } } }; // configFor says no more
  delete without.connector.providers.hubspot;
  const second = await start(without);
  await postWebhook(`${second.url}/webhook`, reported({ name: { before: 'A ApS', after: 'B ApS' } }, 8));
  await second.connector?.drained();
  await second.close(1_000);
  expect(crms.hubspot.get(id)).toMatchObject({ name: 'A ApS' });

  const third = await start(whole);
  await third.connector?.drained();
  expect(crms.hubspot.get(id)).toMatchObject({ name: 'B ApS' });
});

test.each(ENGINES)(
  'a value that was refused waits for nobody once its property is mapped no more (%s)',
  async (engine) => {
    const world = await open(engine, null, 'tracked');
    const schema = new Map([['name', { name: 'name', label: 'Name', type: 'number', writable: true } as const]]);
    const refusing: World = { ...world, crm: { ...world.crm, schema: async () => schema } };
    const waiting = () => readAttention(world.store.db, world.clock.now, { kinds: ['value'] });
    await report(world, 'A ApS', 'B ApS', 8);
    await sync(refusing);
    expect((await waiting()).map(({ about }) => about)).toEqual([`crm:${RECORD} name = "B ApS"`]);
    await world.store.write((tx) => mark(tx, 'sync:crm', [RECORD], world.clock.now));
    await sync(refusing);
    expect(await waiting()).toHaveLength(1);
    await world.store.write((tx) => mark(tx, 'sync:crm', [RECORD], world.clock.now));
    await sync({ ...refusing, crm: { ...refusing.crm, mapping: [] } });
    expect(await waiting()).toEqual([]);
  },
);

test.each(ENGINES)('a start under the same mapping marks nothing (%s)', async (engine) => {
  const store = await newStore(engine);
  const crm = { name: 'hubspot', mapping: [], values: {}, hold: undefined, persons: false };
  const link = { provider: 'hubspot', recordId: '1', entity: ENTITY, sendUpdate: false, now: 1 };
  await store.write((tx) => linkRecord(tx, link));
  const marks = (crms: readonly (typeof crm)[]) => store.write((tx) => markRemapped(tx, crms, 2));
  expect(await marks([crm])).toEqual(['sync:hubspot']);
  expect(await marks([crm])).toEqual([]);
  expect(await marks([])).toEqual([]);
  expect(await marks([crm])).toEqual(['sync:hubspot']);
});

test.each(ENGINES)(
  'a replica that comes and goes with another mapping has all records marked once an hour (%s)',
  async (engine) => {
    const store = await newStore(engine);
    const crm = { name: 'hubspot', mapping: [], values: {}, hold: undefined, persons: false };
    const [MINUTE, HOUR] = [60_000, 3_600_000];
    await store.write((tx) =>
      linkRecord(tx, { provider: 'hubspot', recordId: '1', entity: ENTITY, sendUpdate: false, now: 1 }),
    );
    const run = (id: string, mapping: string, now: number) => {
      const digests = JSON.stringify({ connector: { 'providers.hubspot.mapping': mapping } });
      const row = { id, name: id, started_at: 1, seen_at: now, digests };
      return store.write((tx) => tx.insertInto('daemon').values(row).execute());
    };
    const marks = (now: number) =>
      store.write(async (tx) => {
        await tx.updateTable('daemon').set({ seen_at: now }).execute();
        return markRemapped(tx, [crm], now, 'a');
      });
    const flip = async (now: number) => {
      await run('b', 'of b', now);
      expect(await marks(now)).toEqual([]);
      await store.write((tx) => tx.deleteFrom('daemon').where('id', '=', 'b').execute());
      expect(await marks(now + MINUTE / 2)).toEqual([]);
      return marks(now + MINUTE);
    };
    await run('a', 'of a', 2);
    expect(await marks(2)).toEqual(['sync:hubspot']);
    expect(await marks(3)).toEqual([]);
    expect(await flip(2 + HOUR)).toEqual(['sync:hubspot']);
    for (let minutes = 5; minutes < 55; minutes += 10) expect(await flip(2 + HOUR + minutes * MINUTE)).toEqual([]);
    expect(await marks(2 + 2 * HOUR + MINUTE)).toEqual(['sync:hubspot']);
    expect(await marks(2 + 2 * HOUR + 2 * MINUTE)).toEqual([]);
  },
);
