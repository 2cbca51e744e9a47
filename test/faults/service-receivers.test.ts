/** Receivers of every bad kind beside a good one and both CRMs: none delays another, or the end of the process. */
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import { type Hook, openHook } from '../service/delivering.ts';
import { company, documentAt, entity, type ServiceFixture, setService } from './service-fixture.ts';

const MIB = 'x'.repeat(1 << 20);

/** Writes for as long as anybody listens, 10 GB at most. */
function flood(response: ServerResponse): void {
  let left = 10 * 1024;
  const more = (): void => {
    while (left-- > 0 && !response.destroyed) if (!response.write(MIB)) return void response.once('drain', more);
    response.end();
  };
  more();
}

const BAD = {
  hangs: () => undefined,
  resets: (response: ServerResponse) => response.destroy(),
  redirects: (response: ServerResponse) => response.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
  floods: (response: ServerResponse) => flood(response.writeHead(500)),
  'floods with success': (response: ServerResponse) => flood(response.writeHead(200)),
  'takes its time': (response: ServerResponse) => void setTimeout(() => response.writeHead(200).end(), 1_500),
} as const;

async function monitorAt(fixture: ServiceFixture, name: string, url: string): Promise<string> {
  const { store, service } = fixture.app;
  if (service === undefined) throw new Error('there is no service');
  const { id } = await store.write((tx) =>
    createMonitor(tx, { name, url, target: 'all' }, { secrets: service.secrets, now: Date.now() }),
  );
  return id;
}

test('a good receiver and both CRMs get every change in seconds beside hanging, flooding and slow ones', async () => {
  const fixture = await setService();
  const { store } = fixture.app;
  const start = Date.now() - 60_000;
  const ids = { hubspot: fixture.hubspot.add({}), salesforce: fixture.salesforce.add({ Name: company.name }) };
  await fixture.tell(documentAt(start));
  await expect.poll(() => store.db.selectFrom('snapshot').select('entity').execute()).toHaveLength(1);
  await store.write(async (tx) => {
    for (const provider of ['hubspot', 'salesforce'] as const)
      await linkRecord(tx, { provider, recordId: ids[provider], entity, sendUpdate: true, now: Date.now() });
  });
  await expect.poll(() => fixture.hubspot.get(ids.hubspot)?.['name'], { timeout: 120_000 }).toBe(company.name);

  const hooks = new Map<string, Hook>();
  const monitors = new Map<string, string>();
  for (const [name, behave] of Object.entries(BAD)) {
    hooks.set(name, await openHook(behave));
    monitors.set(await monitorAt(fixture, name, hooks.get(name)?.url ?? ''), name);
  }
  const good = await openHook();
  monitors.set(await monitorAt(fixture, 'good', good.url), 'good');

  const began = performance.now();
  for (let at = 1; at <= 5; at++) await fixture.tell(documentAt(start + at * 1_000, { name: `Navn ${at} ApS` }));
  const named = () => [fixture.hubspot.get(ids.hubspot)?.['name'], fixture.salesforce.get(ids.salesforce)?.['Name']];
  await expect.poll(named, { timeout: 120_000, interval: 20 }).toEqual(['Navn 5 ApS', 'Navn 5 ApS']);
  const texts = () => good.seen.map(({ body }) => /"after":"(Navn \d)/.exec(body)?.[1]);
  await expect
    .poll(texts, { timeout: 120_000, interval: 20 })
    .toEqual(['Navn 1', 'Navn 2', 'Navn 3', 'Navn 4', 'Navn 5']);
  // Long before anybody's deadline of 15 s.
  expect(performance.now() - began).toBeLessThan(14_500);

  const firsts = async () => {
    const rows = await store.db.selectFrom('delivery').select(['monitor', 'state', 'error']).orderBy('seq').execute();
    const of = (name: string) => rows.find(({ monitor }) => monitors.get(monitor) === name);
    return Object.keys(BAD).map((name) => `${name}: ${of(name)?.state} ${of(name)?.error ?? ''}`.trim());
  };
  await expect
    .poll(firsts, { timeout: 120_000 })
    .toEqual([
      'hangs: due',
      expect.stringMatching(/^resets: due .+/),
      expect.stringMatching(/^redirects: due answered 307, a redirect to http/),
      'floods: due answered 500',
      'floods with success: done',
      'takes its time: done',
    ]);

  const stopping = performance.now();
  await fixture.app.close(2_000);
  expect(performance.now() - stopping).toBeLessThan(6_000);
});
