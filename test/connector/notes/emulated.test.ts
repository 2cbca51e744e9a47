/** Notes all the way: the webhook, the daemon, the emulated CRMs. */
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type App, startApp } from '../../../src/app.ts';
import { checkConfig } from '../../../src/config/load.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { openStore } from '../../../src/store/engines/open.ts';
import { CRMS, ENTITY, reported } from '../../faults/company.ts';
import { casesOf } from '../../support/all.ts';
import { handClock } from '../../support/clock.ts';
import { daemonWith } from '../../support/daemon.ts';
import {
  configFor,
  type Fixture,
  type FixtureOptions,
  postWebhook,
  startCrms,
  startFixture,
  watchStore,
} from '../../support/fixture.ts';
import { newFolder, newStoreUrl } from '../../support/stores.ts';

const ADD = { hubspot: 'POST .*/notes$', salesforce: 'POST .*/sobjects/Task' } as const;
const bankrupt = reported({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } }, 8);
const dissolved = reported({ status: { before: 'UNDER KONKURS', after: 'OPLØST' } }, 9);
const NOTED = { hubspot: { notes: ['status', 'board'] }, salesforce: { notes: ['status', 'board'] } };

async function noted(options: FixtureOptions = {}) {
  const clock = handClock();
  const fixture = await startFixture({ clock, connections: NOTED, ...options });
  return { fixture, clock };
}

/** Waits until so many notes are in a state, on a clock that runs fast. */
async function reached(fixture: Fixture, state: 'due' | 'done', count: number): Promise<void> {
  await expect
    .poll(
      async () => {
        await fixture.forward(500);
        return (await fixture.app.store.db.selectFrom('note').select('state').where('state', '=', state).execute())
          .length;
      },
      { timeout: 120_000, interval: 20 },
    )
    .toBe(count);
}

describe.each(CRMS)('$crm', ({ crm, name, own }) => {
  test('a selected event adds one readable note, even if it is repeated', async () => {
    const { fixture } = await noted();
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    const person = { entityId: 'CVR-3-4999000001', name: 'Prøve <Opdigtsen>', type: 'Person' };
    const both = reported(
      {
        name: { before: 'A ApS', after: 'B & C ApS' },
        status: { before: 'NORMAL', after: 'UNDER KONKURS' },
        board: { added: [person], removed: [] },
      },
      8,
    );
    await fixture.post(both);
    await fixture.post(both, { 'webhook-id': 'once more' });
    await fixture.atRest();
    await reached(fixture, 'done', 1);
    await fixture.settled();
    const [note, ...others] = fixture[crm].notes(id);
    expect(others).toEqual([]);
    expect(note).toContain('Registreret den 2. marts 2026 kl. 09.00.');
    expect(note).toContain('Status: Normal → Under konkurs');
    expect(note).toContain('Personer: 1 tiltrådt');
    expect(note).not.toContain('Opdigtsen');
    expect(fixture[crm].get(id)).toMatchObject({ [own]: 'B & C ApS' });
  });

  test.each(casesOf(crm, ['reset', 'hang'] as const))(
    'its answer is lost (%s) after it was written: it is there once',
    async (kind) => {
      const { fixture } = await noted({ ...(kind === 'hang' && { deadlineMs: 2_000 }) });
      const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
      fixture[crm].fault({ match: ADD[crm], action: { kind, applied: true } });
      await fixture.post(bankrupt);
      await reached(fixture, 'done', 1);
      expect(fixture[crm].notes(id)).toHaveLength(1);
    },
  );

  test('a note that was not written is sent again, and exists once', async () => {
    const { fixture } = await noted();
    const id = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    fixture[crm].fault({ match: ADD[crm], times: 2, action: { kind: 'reset' } });
    fixture[crm].fault({ match: ADD[crm], action: { kind: 'status', status: 503 } });
    await fixture.post(bankrupt);
    await reached(fixture, 'done', 1);
    expect(fixture[crm].notes(id)).toHaveLength(1);
  });

  test('a deleted record gets no note, and the note of a merged one goes to the survivor', async () => {
    const { fixture } = await noted();
    const gone = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    const merged = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
    const survivor = fixture[crm].add({ [name]: 'A ApS' });
    await fixture.settled();
    fixture[crm].remove(gone);
    const to = fixture[crm].merge(survivor, merged);
    await fixture.post(bankrupt);
    await reached(fixture, 'done', 1);
    await reached(fixture, 'due', 0);
    expect(fixture[crm].notes(to)).toHaveLength(1);
  });
});

test('a record on hold in the CRM gets its note after the hold', async () => {
  const { fixture, clock } = await noted({
    hubspot: { properties: [{ name: 'hands_off', type: 'string' }] },
    connections: { hubspot: { notes: ['status'], hold: { property: 'hands_off' } } },
  });
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS', hands_off: 'we talk to them' });
  await fixture.post(bankrupt);
  const waits = () =>
    fixture.app.store.db
      .selectFrom('lane')
      .select('key')
      .where('queue', '=', 'note:hubspot')
      .where('due_at', '>', clock.now() + 3_600_000)
      .execute();
  await expect.poll(waits, { timeout: 120_000 }).toHaveLength(1);
  expect(fixture.hubspot.notes(id)).toEqual([]);
  fixture.hubspot.edit(id, { hands_off: null });
  clock.forward(6 * 3_600_000);
  await reached(fixture, 'done', 1);
  expect(fixture.hubspot.notes(id)).toHaveLength(1);
});

test('without the right to notes properties are still written, and notes follow once it is granted', async () => {
  const { fixture, clock } = await noted();
  const id = await fixture.addLinked('hubspot', ENTITY, { name: 'A ApS' });
  const body = { category: 'MISSING_SCOPES', message: 'no scopes' };
  fixture.hubspot.fault({ match: ADD.hubspot, action: { kind: 'status', status: 403, body } });
  await fixture.post(reported({ ...bankrupt.updates, name: { before: 'A ApS', after: 'B ApS' } }, 8));
  const lane = () =>
    fixture.app.store.db.selectFrom('lane').select('error').where('queue', '=', 'note:hubspot').execute();
  await expect.poll(lane, { timeout: 120_000 }).toMatchObject([{ error: expect.stringContaining('contacts.write') }]);
  await fixture.post(reported({ name: { before: 'B ApS', after: 'C ApS' } }, 9));
  await expect.poll(() => fixture.hubspot.get(id), { timeout: 120_000 }).toMatchObject({ name: 'C ApS' });
  expect(fixture.hubspot.notes(id)).toEqual([]);
  clock.forward(5 * 60_000);
  await reached(fixture, 'done', 1);
  expect(fixture.hubspot.notes(id)).toHaveLength(1);
});

test('each note exists once if the daemon is killed between the write in the CRM and its own', async () => {
  const crms = await startCrms();
  const url = await newStoreUrl('sqlite');
  const ids = { hubspot: crms.hubspot.add({}), salesforce: crms.salesforce.add({ Name: 'A ApS' }) };
  const store = await openStore(url);
  for (const provider of ['hubspot', 'salesforce'] as const) {
    const desired = { provider, recordId: ids[provider], entity: ENTITY, sendUpdate: false, now: Date.now() };
    await store.write((tx) => linkRecord(tx, desired));
    crms[provider].fault({ match: ADD[provider], action: { kind: 'hang', applied: true } });
  }
  await store.close();
  const daemon = await daemonWith(configFor(crms, url, { connections: NOTED, leaseSeconds: 5 }));
  await daemon.start();
  expect(await postWebhook(`${daemon.url}/webhook`, bankrupt)).toBe(204);
  const counts = () => [crms.hubspot.notes(ids.hubspot).length, crms.salesforce.notes(ids.salesforce).length];
  await expect.poll(counts, { timeout: 120_000 }).toEqual([1, 1]);
  await daemon.kill('SIGKILL');
  await daemon.start();
  const watched = await watchStore(url);
  const states = () => watched.db.selectFrom('note').select(['state', 'note_id']).execute();
  await expect
    .poll(states, { timeout: 120_000, interval: 200 })
    .toEqual([1, 2].map(() => ({ state: 'done', note_id: expect.any(String) })));
  expect(counts()).toEqual([1, 1]);
});

test('two replicas on one PostgreSQL add each note once', async () => {
  const crms = await startCrms();
  const url = await newStoreUrl('postgres');
  const loaded = await checkConfig(configFor(crms, url, { connections: NOTED }), join(newFolder(), 'cvrsync.yaml'), {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  const start = async (): Promise<App> => {
    const app = await startApp(loaded.config, { log: pino({ level: 'silent' }), env: {} });
    onTestFinished(() => app.close(0));
    return app;
  };
  const apps = [await start(), await start()];
  const entities = Array.from({ length: 12 }, (_, index) => `CVR-1-950123${index + 10}`);
  const ids = entities.map(() => crms.hubspot.add({}));
  for (const [index, entity] of entities.entries())
    await apps[0]?.store.write((tx) =>
      linkRecord(tx, { provider: 'hubspot', recordId: ids[index] ?? '', entity, sendUpdate: false, now: Date.now() }),
    );
  await Promise.all(
    entities.flatMap((entityId) =>
      [bankrupt, dissolved, bankrupt].map(async ({ updates, timestamp }, index) => {
        const event = { entityId, timestamp, updates };
        await postWebhook(`${apps[index % 2]?.url}/webhook`, event, { 'webhook-id': `${entityId} ${index}` });
      }),
    ),
  );
  await expect
    .poll(() => ids.map((id) => crms.hubspot.notes(id).length), { timeout: 120_000 })
    .toEqual(ids.map(() => 2));
  for (const app of apps) await app.connector?.drained();
  expect(ids.map((id) => crms.hubspot.notes(id).length)).toEqual(ids.map(() => 2));
});
