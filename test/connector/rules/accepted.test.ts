import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { FieldName } from '../../../providers/fields.ts';
import type { Policy, PresetRow } from '../../../providers/provider.ts';
import { type App, type AppOptions, startApp } from '../../../src/app.ts';
import { checkConfig } from '../../../src/config/load.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { readReview } from '../../../src/connector/review/review-list.ts';
import { acceptAtStart, readAllAccepted } from '../../../src/connector/rules/accepted.ts';
import type { NamedRules } from '../../../src/connector/rules/rules.ts';
import { mark } from '../../../src/runtime/lanes/lanes.ts';
import { ENTITY, reported } from '../../faults/company.ts';
import { type Connections, configFor, postWebhook, startCrms } from '../../support/fixture.ts';
import { ENGINES, newFolder, newStore, newStoreUrl } from '../../support/stores.ts';
import { open, RECORD, report, sync, type World } from '../sync/two-syncs.ts';

async function start(config: object, more: Partial<AppOptions> = {}): Promise<App> {
  const loaded = await checkConfig(config, join(newFolder(), 'cvrsync.yaml'), {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  const app = await startApp(loaded.config, { log: pino({ level: 'silent' }), env: {}, ...more });
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

test('a field that is mapped later is written from known facts to linked records', async () => {
  const { crms, url, id, first } = await ranUnder({ hubspot: { fields: { status: false } } });
  await postWebhook(`${first.url}/webhook`, reported({ status: { before: null, after: 'NORMAL' } }, 8));
  await first.connector?.drained();
  await first.close(1_000);
  expect(crms.hubspot.get(id)).toMatchObject({ selskabsstatus: null });

  const second = await start(
    configFor(crms, url, { connections: { hubspot: { fields: { status: 'selskabsstatus' } } } }),
    { rulesAcceptedBy: { kind: 'user', name: 'ida' } },
  );
  await second.connector?.drained();
  expect(crms.hubspot.get(id)).toMatchObject({ selskabsstatus: 'NORMAL' });
});

test('a connection that was removed for a while gets its missed changes when it returns', async () => {
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

test.each(ENGINES)('a refused value leaves review once its property is no longer mapped (%s)', async (engine) => {
  const world = await open(engine, null, 'tracked');
  const schema = new Map([['name', { name: 'name', label: 'Name', type: 'number', writable: true } as const]]);
  const refusing: World = { ...world, crm: { ...world.crm, schema: async () => schema } };
  const waiting = () => readReview(world.store.db, world.clock.now, { kinds: ['value'] });
  await report(world, 'A ApS', 'B ApS', 8);
  await sync(refusing);
  expect((await waiting()).map(({ about }) => about)).toEqual([`crm:${RECORD} name = "B ApS"`]);
  await world.store.write((tx) => mark(tx, 'sync:crm', [RECORD], world.clock.now));
  await sync(refusing);
  expect(await waiting()).toHaveLength(1);
  await world.store.write((tx) => mark(tx, 'sync:crm', [RECORD], world.clock.now));
  await sync({ ...refusing, crm: { ...refusing.crm, mapping: [] } });
  expect(await waiting()).toEqual([]);
});

test.each(ENGINES)(
  'a start under the same rules marks nothing, and a returning connection is marked (%s)',
  async (engine) => {
    const store = await newStore(engine);
    const rules = { name: 'hubspot', mapping: [], values: {}, hold: undefined, persons: false };
    const link = { provider: 'hubspot', recordId: '1', entity: ENTITY, sendUpdate: false, now: 1 };
    await store.write((tx) => linkRecord(tx, link));
    const marks = async (configured: readonly NamedRules[]) => {
      await store.write((tx) => tx.deleteFrom('lane').execute());
      await store.write((tx) => acceptAtStart(tx, configured, { now: 2 }));
      const lanes = await store.db.selectFrom('lane').select('queue').where('queue', 'like', 'sync:%').execute();
      return lanes.map(({ queue }) => queue);
    };
    expect(await marks([rules])).toEqual(['sync:hubspot']);
    expect(await marks([rules])).toEqual([]);
    expect(await marks([])).toEqual([]);
    expect(await marks([rules])).toEqual(['sync:hubspot']);
    expect(await marks([rules])).toEqual([]);
  },
);

test.each(ENGINES)('a start accepts only changes that write less, and the rest waits (%s)', async (engine) => {
  const store = await newStore(engine);
  const row = (field: FieldName, policy: Policy): PresetRow => ({ field, property: field, policy });
  const rules = (mapping: readonly PresetRow[], more: Partial<NamedRules> = {}): NamedRules => ({
    ...{ name: 'hubspot', values: {}, hold: undefined, persons: true },
    mapping,
    ...more,
  });
  const start = async (next: NamedRules) => {
    await store.write((tx) => acceptAtStart(tx, [next], { now: 2 }));
    const accepted = (await readAllAccepted(store.db)).get('hubspot');
    return accepted && { by: accepted.by, ...accepted.rules };
  };
  const first = await start(rules([row('name', 'always'), row('city', 'tracked'), row('phone', 'tracked')]));
  expect(first?.by).toBe('first start');
  const less = await start(rules([row('name', 'never'), row('city', 'always')], { persons: false, hold: 'cvr_hold' }));
  expect(less).toMatchObject({ by: 'start', persons: false, hold: 'cvr_hold' });
  expect(less?.mapping).toEqual([row('name', 'never'), row('city', 'tracked')]);
  const same = await start(
    rules([row('name', 'never'), row('city', 'always'), row('phone', 'tracked')], { hold: 'b' }),
  );
  expect(same).toEqual(less);
});
