/** An installation with something on every page, and where each page of the route table is in it. */
import { randomBytes } from 'node:crypto';
import { createOperator } from '../../src/runtime/operators/operators.ts';
import { createKey } from '../../src/service/keys/keys.ts';
import { openSecrets, type Secrets } from '../../src/service/keys/secrets.ts';
import { endMail } from '../../src/service/mail/stopped-mails.ts';
import type { MonitorInput } from '../../src/service/monitors/monitor-input.ts';
import { createMonitor, disable } from '../../src/service/monitors/monitors.ts';
import { publish } from '../../src/service/publish/publish.ts';
import type { Store } from '../../src/store/store.ts';
import { changed } from '../service/monitored.ts';
import type { Fixture } from '../support/fixture.ts';
import { newFolder } from '../support/stores.ts';
import { pageAddresses } from './page-patterns.ts';
import { COMPANY, playStory } from './story.ts';
import { adminAt } from './visitor.ts';

export interface Filled {
  readonly fixture: Fixture;
  readonly token: string;
  /** Where the pages are. Throws if a page of the route table is at none of them. */
  readonly places: readonly string[];
}

/** Two companies in both CRMs with decisions, a failed delivery, a hold, a conflict, runs and a plan. */
export async function startFilled(): Promise<Filled> {
  const secretKey = randomBytes(32);
  const { fixture, records } = await playStory({
    hasSettings: true,
    connections: { hubspot: { match: { property: 'cvr_number' } } },
    service: { register: { source: 'file', path: newFolder() }, secretKey: secretKey.toString('base64') },
  });
  const { store } = fixture.app;
  await fixture.post('{"entityId": ');
  fixture.hubspot.add({ name: 'Nordlys Møbler', cvr_number: '12345674' });
  await fixture.cli('backfill', 'hubspot', '--dry-run');
  const ids = await fillService(store, openSecrets(secretKey));
  await fillConnector(store, records.hubspot);
  const ida = await adminAt(fixture.app.adminUrl, store);
  await ida.get('/');
  const asked = await ida.post('/runs/undo', { entity: COMPANY });
  const token = (await store.write((tx) => createOperator(tx, { name: 'Ida', role: 'admin' }, Date.now()))) ?? '';
  const of = `provider=hubspot&record=${records.hubspot}`;
  const queries: Readonly<Record<string, readonly string[]>> = {
    '/': ['', '?span=day'],
    '/companies': ['', '?q=bi', '?q=nobody'],
    '/companies/:entity/end': [`?${of}&property=name`],
    '/companies/:entity/hold': [`?${of}`, `?${of}&property=phone`],
    '/companies/:entity/release': [`?${of}`, `?${of}&property=phone&once=yes`],
    '/companies/:entity/unlink': [`?${of}`],
    '/companies/:entity/update': [`?${of}`],
    '/backfill/:name': ['', '?part=all'],
    '/backfill/:name/row': [`?record=${records.hubspot}`],
    '/deliveries': ['', `?monitor=${ids.monitor}`, '?state=failing'],
    '/monitors/:id/items/remove': [`?entity=${COMPANY}`],
    '/writes': ['', `?entity=${COMPANY}`],
  };
  const values: Readonly<Record<string, string>> = {
    '/settings/operators/:name': 'Ida',
    ':entity': COMPANY,
    ':name': 'hubspot',
    ':seq': String(ids.delivery),
    ':kind': 'body',
    '/keys/:id': ids.key,
    '/monitors/:id': ids.monitor,
    '/runs/:id': String(asked.headers['location']).split('/').at(-1) ?? '',
    ':id': '1',
  };
  const places = pageAddresses({ values, queries });
  return { fixture, token, places };
}

/** A hold, and a link in conflict. */
const fillConnector = (store: Store, record: string): Promise<void> =>
  store.write(async (tx) => {
    const hold = { provider: 'hubspot', record_id: record, property: 'name', kind: 'hold', once: 0 } as const;
    await tx
      .insertInto('override')
      .values({ ...hold, until: null, reason: 'asked by the customer', created_at: Date.now(), seen: null })
      .execute();
    await tx
      .updateTable('link')
      .set({ state: 'conflict', reason: null })
      .where('provider', '=', 'salesforce')
      .execute();
  });

/** Monitors with and without mail, one of a key and one that is off, and a delivery that failed. */
async function fillService(store: Store, secrets: Secrets) {
  const now = Date.now();
  const { id: key } = await store.write((tx) => createKey(tx, { name: 'Birk Byg', scopes: ['monitoring'] }, now));
  const make = (input: Partial<MonitorInput>) =>
    store.write((tx) =>
      createMonitor(tx, { name: 'Birk', url: 'https://receiver.example/hook', ...input }, { secrets, now }),
    );
  const { id: monitor } = await make({
    ...{ name: `Sales ${'north'.repeat(20)}`, url: `https://receiver.example/${'x'.repeat(150)}`, target: 'all' },
    emails: ['ida@example.com', 'bo@example.com'],
  });
  await make({ owner: key, provider: 'salesforce' });
  const off = await make({ name: 'Off' });
  await store.write((tx) => disable(tx, off.id, 'person', now));
  await store.write((tx) => endMail(tx, monitor, 'bo@example.com', { now, bounced: `550 ${'no '.repeat(50)}` }));
  await store.write((tx) => endMail(tx, monitor, 'eva@example.com', { now }));
  await store.write((tx) => publish(tx, [changed({ name: `Havblik ${'Handel'.repeat(12)} ApS` })], { now }));
  const { seq: delivery } = await store.db
    .selectFrom('delivery')
    .select('seq')
    .where('monitor', '=', monitor)
    .executeTakeFirstOrThrow();
  const attempt = { delivery, at: now, took: 20, number: 1, status: 500, fault: 'answered 500', done: 0 };
  const answer = { answer: `no ${'x'.repeat(900)}`, headers: JSON.stringify({ 'x-request-id': 'y'.repeat(200) }) };
  await store.write(async (tx) => {
    await tx
      .insertInto('attempt')
      .values({ ...attempt, ...answer })
      .execute();
    await tx.updateTable('delivery').set({ state: 'failed', attempts: 1, status: 500, ended_at: now }).execute();
  });
  return { key, delivery, monitor };
}
