/** The disk of the store is full: the watcher stops reading, and nothing is lost when there is room again. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import type { Store } from '../../src/store/store.ts';
import { openHook } from '../service/delivering.ts';
import { handClock } from '../support/clock.ts';
import { company, documentAt, entity, leapUntil, type ServiceFixture, setService } from './service-fixture.ts';

/** Lets the store have no page more than it has, or as many as it likes. */
const limit = (store: Store, most: 'none' | 'all') =>
  store.write(async (tx) => {
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(tx);
    const pages = most === 'all' ? 1_000_000_000 : (rows[0]?.page_count ?? 0);
    await sql`pragma max_page_count = ${sql.lit(pages)}`.execute(tx);
  });

const read = async ({ app }: ServiceFixture) => {
  const { db } = app.store;
  const cursor = await db.selectFrom('kv').select('value').where('key', '=', 'cursor:file').executeTakeFirst();
  const changes = await db.selectFrom('change').select('id').where('kind', '=', 'register').execute();
  const [lane] = await db.selectFrom('lane').select(['error', 'attempts']).where('key', '=', 'file').execute();
  return { cursor: cursor?.value, changes: changes.length, error: lane?.error, attempts: lane?.attempts ?? 0 };
};

test('a full disk stops reading; afterwards every change reaches both CRMs and a webhook once', async () => {
  const clock = handClock();
  const fixture = await setService({ clock });
  const { store, service } = fixture.app;
  const start = clock.now() - 60_000;
  const ids = { hubspot: fixture.hubspot.add({}), salesforce: fixture.salesforce.add({ Name: company.name }) };
  const hook = await openHook();
  await fixture.tell(documentAt(start));
  await leapUntil(fixture, clock, async () => (await read(fixture)).cursor !== undefined);
  await store.write(async (tx) => {
    if (service === undefined) throw new Error('there is no service');
    await createMonitor(
      tx,
      { name: 'All', url: hook.url, target: 'all' },
      { secrets: service.secrets, now: clock.now() },
    );
    for (const provider of ['hubspot', 'salesforce'] as const)
      await linkRecord(tx, { provider, recordId: ids[provider], entity, sendUpdate: true, now: clock.now() });
  });
  await leapUntil(fixture, clock, () => fixture.salesforce.get(ids.salesforce)?.['Website'] !== undefined);

  await limit(store, 'none');
  const before = await read(fixture);
  // More than what lies free in the pages there are.
  const names = Array.from({ length: 6 }, (_, at) => `Navn ${at} ApS`);
  const long = (at: number) => ({ name: names[at] ?? '', purpose: `Formål ${at} `.repeat(3_000) });
  await fixture.tell(...names.map((_, at) => documentAt(start + (at + 1) * 1_000, long(at))));
  await leapUntil(fixture, clock, async () => (await read(fixture)).attempts >= 3);
  const during = await read(fixture);
  expect(during).toMatchObject({ cursor: before.cursor, changes: 0, error: expect.stringMatching(/full/) });
  expect(hook.seen).toEqual([]);

  await limit(store, 'all');
  const named = () => [fixture.hubspot.get(ids.hubspot)?.['name'], fixture.salesforce.get(ids.salesforce)?.['Name']];
  await leapUntil(fixture, clock, () => named().every((name) => name === names.at(-1)));
  await leapUntil(fixture, clock, () => hook.seen.length >= names.length);
  expect((await read(fixture)).changes).toBe(names.length);
  const reported = hook.seen.map(({ body }) => /"after":"(Navn \d ApS)/.exec(body)?.[1]);
  expect([...new Set(reported)]).toEqual(names);
  const left = () => store.db.selectFrom('delivery').select('seq').where('state', '!=', 'done').execute();
  await leapUntil(fixture, clock, async () => (await left()).length === 0);
});
