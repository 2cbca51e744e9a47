/** The register or the mail server is away for hours: the rest continues, and no change of that time is lost. */
import { expect, onTestFinished, test } from 'vitest';
import { serveRegister } from '../../src/commands/emulate/register.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { addItem } from '../../src/service/items/items.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import { openHook } from '../service/delivering.ts';
import { startMailServer } from '../service/mail/mail-server.ts';
import { handClock } from '../support/clock.ts';
import { company, documentAt, entity, leapUntil, type ServiceFixture, setService } from './service-fixture.ts';

const HOUR_MS = 3_600_000;
/** More than the longest back-off. */
const LEAP_MS = 1_200_000;

/** Links a record of each CRM to the company, and asks for all that is known. */
async function linkBoth(fixture: ServiceFixture, now: number): Promise<{ hubspot: string; salesforce: string }> {
  const ids = { hubspot: fixture.hubspot.add({}), salesforce: fixture.salesforce.add({ Name: company.name }) };
  await fixture.app.store.write(async (tx) => {
    for (const provider of ['hubspot', 'salesforce'] as const)
      await linkRecord(tx, { provider, recordId: ids[provider], entity, sendUpdate: true, now });
  });
  return ids;
}

test('an outage of the register for hours stops nothing else, and later its changes reach both CRMs', async () => {
  const register = await serveRegister({ companies: 2, seed: 5 });
  onTestFinished(() => register.close());
  const clock = handClock();
  register.put(documentAt(clock.now()), clock.now());
  const fixture = await setService({
    clock,
    service: { register: { ...register.settings, requestsPerSecond: 20 }, webhooks: { allow: ['127.0.0.1'] } },
  });
  const ids = await linkBoth(fixture, clock.now());
  const { store, service, url } = fixture.app;
  const names = () => [fixture.hubspot.get(ids.hubspot)?.['name'], fixture.salesforce.get(ids.salesforce)?.['Name']];
  await leapUntil(fixture, clock, () => names().every((name) => name === company.name));

  const down = { kind: 'status', status: 503, body: '<html>' } as const;
  register.fault({ match: '_search', times: 12, action: down });
  const began = clock.now();
  await service?.look();
  await leapUntil(fixture, clock, () => clock.now() - began > HOUR_MS, LEAP_MS);
  register.put(documentAt(clock.now(), { name: 'Nyt Navn ApS' }), clock.now());
  expect((await fetch(`${url}/ready`)).status).toBe(200);
  expect(names()).toEqual([company.name, company.name]);

  await leapUntil(fixture, clock, () => names().every((name) => name === 'Nyt Navn ApS'), LEAP_MS);
  expect(clock.now() - began).toBeGreaterThan(2 * HOUR_MS);
  const reported = await store.db.selectFrom('change').select('updates').where('kind', '=', 'register').execute();
  expect(reported).toHaveLength(1);
});

test('an outage of the mail server delays no webhook, and one mail has all changes afterwards', async () => {
  const clock = handClock();
  const closed = await startMailServer();
  await closed.close();
  const fixture = await setService({ clock, service: { smtp: { url: closed.url, from: 'cvrsync@example.com' } } });
  const { store, service } = fixture.app;
  const hook = await openHook();
  await fixture.tell(documentAt(clock.now() - 9_000));
  await leapUntil(fixture, clock, async () => (await snapshots(fixture)) === 1);
  await store.write(async (tx) => {
    if (service === undefined) throw new Error('there is no service');
    const wanted = { name: 'Sales', url: hook.url, emails: ['ida@example.com'], mailFrequency: 'immediate' } as const;
    const { id: monitor } = await createMonitor(tx, wanted, { secrets: service.secrets, now: clock.now() });
    await addItem(tx, { monitor, entity, recordId: '', sendUpdate: false, now: clock.now() });
  });
  await fixture.tell(documentAt(clock.now() - 5_000, { name: 'Et Navn ApS' }));
  const seen = (name: string) => hook.seen.some(({ body }) => body.includes(name));
  await leapUntil(fixture, clock, () => seen('Et Navn ApS'));
  const began = clock.now();
  await leapUntil(fixture, clock, () => clock.now() - began > 3 * HOUR_MS, HOUR_MS / 2);
  await fixture.tell(documentAt(clock.now(), { name: 'Et Andet Navn ApS' }));
  await leapUntil(fixture, clock, () => seen('Et Andet Navn ApS'));

  const open = await startMailServer({}, closed.port);
  await leapUntil(fixture, clock, () => open.mails.length > 0);
  expect(open.mails).toHaveLength(1);
  expect(open.mails[0]?.text).toContain('Et Navn ApS');
  expect(open.mails[0]?.text).toContain('Et Andet Navn ApS');
});

const snapshots = async ({ app }: ServiceFixture): Promise<number> =>
  (await app.store.db.selectFrom('snapshot').select('entity').execute()).length;
