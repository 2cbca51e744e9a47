/** The list of monitors, one monitor's page, and what viewers do not see, on real stores with real webhooks. */
import { describe, expect, it } from 'vitest';
import { readDeliveryStatistics } from '../../../src/service/delivery/listing/statistics.ts';
import { endMail } from '../../../src/service/mail/stopped-mails.ts';
import { disable } from '../../../src/service/monitors/monitors.ts';
import { delivering, openHook, statuses } from '../../service/delivering.ts';
import { changed, listed, made, OTHER, PERSON } from '../../service/monitored.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { startPages } from '../visitor.ts';

const HOSTILE = '<script>alert(1)</script>';

describe.each(SUITE_ENGINES)('monitors on %s', (engine) => {
  it('are listed with state, share of successes, latency and recipients, and with names as text', async () => {
    const { signedIn, store } = await startPages({ engine });
    const [good, bad] = [await openHook(), await openHook(statuses(500))];
    const { publish, worker, now } = delivering(store);
    const one = await made(store, {
      name: HOSTILE,
      url: good.url,
      target: 'all',
      emails: ['a@example.com', 'b@example.com'],
    });
    const two = await made(store, { name: 'Failing', url: bad.url, target: 'all' });
    const off = await made(store, { name: 'Stopped', target: 'items' });
    await listed(store, off.id, OTHER);
    await store.write((tx) => disable(tx, off.id, 'gone', now()));
    await store.write((tx) => endMail(tx, one.id, 'B@example.com', { now: now() }));
    await publish(changed(), changed({ entity: OTHER }));
    await worker.drained();
    const statistics = await readDeliveryStatistics(store.db, [one.id, two.id, off.id], now());
    expect(statistics.get(one.id)).toMatchObject({ tried: 2, delivered: 2, isSample: false });
    expect(statistics.get(one.id)?.latency?.median).toBeGreaterThanOrEqual(0);
    expect(statistics.get(two.id)).toMatchObject({ tried: 2, delivered: 0, latency: undefined });
    expect(statistics.get(off.id)).toMatchObject({ tried: 0 });
    expect((await readDeliveryStatistics(store.db, [one.id], now() + 86_400_001)).get(one.id)).toMatchObject({
      tried: 0,
    });
    const viewer = await signedIn('viewer');
    const { text } = await viewer.get('/monitors');
    expect(text).not.toContain('<script>alert');
    expect(text).toContain('&lt;script>alert(1)');
    for (const shown of ['100% of 2', '0% of 2', 'every company', '1 company or person', 'on, failing', '1 ended'])
      expect(text).toContain(shown);
    expect(text).toContain('off: the webhook wants no more');
    expect(text).not.toContain('/monitors/new');
    const onlyOff = (await viewer.get('/monitors?state=off')).text;
    expect([onlyOff.includes('Stopped'), onlyOff.includes('Failing')]).toEqual([true, false]);
  });

  it('name their events as the configuration does, in their form too', async () => {
    const { signedIn, store } = await startPages({ engine, monitorOptions: { emailEvent: 'companyMail' } });
    const { id } = await made(store, { events: ['email'] });
    const admin = await signedIn('admin');
    expect((await admin.get(`/monitors/${id}`)).text).toContain('companyMail');
    for (const path of [`/monitors/${id}/edit`, '/monitors/new'])
      expect((await admin.get(path)).text).toMatch(/<code>companyMail<\/code>/);
  });

  it('are found by a part of their name, in any case and with any characters', async () => {
    const { signedIn, store } = await startPages({ engine });
    for (const name of ['Sales 100%', 'sales 1000', 'Sales_north', String.raw`Back\slash`])
      await made(store, { name, target: 'items' });
    const viewer = await signedIn('viewer');
    const found = async (name: string) => {
      const { text } = await viewer.get(`/monitors?name=${encodeURIComponent(name)}`);
      return [...text.matchAll(/href="\/monitors\/[0-9a-f-]+">([^<]+)</g)].map(([, each]) => each).toSorted();
    };
    expect(await found('SALES')).toEqual(['Sales 100%', 'Sales_north', 'sales 1000']);
    expect(await found('100%')).toEqual(['Sales 100%']);
    expect(await found('s_n')).toEqual(['Sales_north']);
    expect(await found('\\')).toEqual([String.raw`Back\slash`]);
    expect((await viewer.get('/monitors?name=nobody')).text).toContain('None fits this filter');
    expect((await viewer.get('/monitors?name=x%22y')).text).toContain('value="x&quot;y"');
  });

  it('have a page with unsubscribed addresses; viewers see neither addresses of people nor paths of webhooks', async () => {
    const { signedIn, store } = await startPages({ engine });
    const url = 'https://hooks.example.com/services/T0/very-secret';
    const { id, security } = await made(store, {
      ...{ url, emails: ['ida@example.com', 'bo@example.com'] },
      credentials: { method: 'Bearer', token: 'their-token' },
    });
    await listed(store, id, PERSON);
    await store.write((tx) =>
      endMail(tx, id, 'ida@example.com', { now: 1, bounced: `550 <ida@example.com> ${HOSTILE}` }),
    );
    await store.write((tx) => endMail(tx, id, 'gone@example.com', { now: 1 }));
    const admin = await (await signedIn('admin')).get(`/monitors/${id}`);
    for (const shown of [
      url,
      'ida@example.com',
      'gone@example.com',
      'unsubscribed',
      'mail came back',
      PERSON,
      'Bearer',
    ])
      expect(admin.text).toContain(shown);
    const viewer = await (await signedIn('viewer')).get(`/monitors/${id}`);
    expect(viewer.text).toContain('https://hooks.example.com/•••');
    expect(viewer.text).toContain('i•••@example.com');
    for (const hidden of ['very-secret', 'ida@example.com', 'gone@example.com', '/resubscribe', `/${id}/edit`])
      expect(viewer.text).not.toContain(hidden);
    for (const { text } of [admin, viewer]) {
      expect(text).not.toContain('their-token');
      expect(text).not.toContain(security.secrets[0]?.secret ?? 'none');
      expect(text).not.toContain('<script>alert');
    }
    const operator = await signedIn('operator');
    for (const step of ['edit', 'test', 'rotate', 'disable', 'remove'])
      expect((await operator.get(`/monitors/${id}/${step}`)).status, step).toBe(403);
    expect((await operator.get('/monitors/nobody')).status).toBe(404);
  });
});

describe('a long list', () => {
  it('is paged without gaps, and counts deliveries with bounded reads', async () => {
    const { signedIn, store } = await startPages();
    for (let count = 0; count < 27; count++) await made(store, { name: `Monitor ${count}.` });
    const viewer = await signedIn('viewer');
    const first = (await viewer.get('/monitors')).text;
    const next = /rel="next" href="([^"]+)"/.exec(first)?.[1] ?? '';
    const second = (await viewer.get(next)).text;
    const names = [...`${first}${second}`.matchAll(/>(Monitor \d+\.)<\/a>/g)].map(([, name]) => name);
    expect(new Set(names).size).toBe(27);
    expect(names).toHaveLength(27);
    const { id } = await made(store);
    const row = { monitor: id, entity: OTHER, events: '[]', next_at: 0, created_at: 1_000, ended_at: 1_200 };
    const rows = Array.from(
      { length: 600 },
      (_, at) => ({ ...row, change: at + 1, attempts: 1, state: at >= 25 && at < 575 ? 'done' : 'failed' }) as const,
    );
    await store.write((tx) => tx.insertInto('delivery').values(rows).execute());
    const statistics = (await readDeliveryStatistics(store.db, [id], 2_000)).get(id);
    // The newest 500 delivered ones begin at the 76th: of the failed ones only the last 25 came later.
    const recent = [...Array(35).fill(true), ...Array(25).fill(false)];
    const latency = { median: 200, slow: 200 };
    expect(statistics).toEqual({ tried: 525, delivered: 500, latency, isSample: true, recent });
  });
});
