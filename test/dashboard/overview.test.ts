/** The overview: whether all is well, what is not, and what happened in a day. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { countDecisions, countRecordStates } from '../../src/connector/activity.ts';
import { writeHistory } from '../../src/connector/history/history.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { startCallMeter } from '../../src/dashboard/connections/call-meter.ts';
import { recently } from '../../src/dashboard/overview/recent.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { mark } from '../../src/runtime/lanes/lanes.ts';
import { createRateLimiter } from '../../src/runtime/limits/rate-limiter.ts';
import { writeValue } from '../../src/store/kv.ts';
import type { Store } from '../../src/store/store.ts';
import { crmOf } from '../support/crm.ts';
import { newStore, SUITE_ENGINES } from '../support/stores.ts';
import { startPages } from './visitor.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const HOUR_MS = 3_600_000;
const now = () => NOW;
const COMPANY = 'CVR-1-10000001';
const toyCrm = (store: Store) => crmOf({ store, connection: {} as never, mapping: [], properties: [], now });

const decision = (id: string, action: 'write' | 'keep' | 'skip') => ({
  ...{ provider: 'crm', id, entity: COMPANY },
  planned: {
    ...({ field: 'name', property: 'name', action, rule: 'register', seq: 1, old: 'a', now: 'b' } as const),
  },
});

describe.each(SUITE_ENGINES)('the overview on %s', (engine) => {
  it('shows the first steps while nothing is linked, then that all is well', async () => {
    const { admin, store } = await startPages({ engine, now });
    const ida = await admin();
    const empty = (await ida.get('/')).text;
    expect(empty).not.toContain('All is well');
    expect(empty).toContain('<a href="/backfill">Start a backfill');
    await store.write(async (tx) => {
      await linkRecord(tx, { provider: 'crm', recordId: '1', entity: COMPANY, sendUpdate: false, now: NOW });
    });
    const { text } = await ida.get('/');
    expect(text).toContain('All is well');
    expect((await ida.get('/', { 'accept-language': 'da' })).text).toContain('Alt er i orden');
  });

  it('shows the first steps of a service alone while the register is not read', async () => {
    const { admin } = await startPages({ engine, now, halves: { connector: false, service: true } });
    const { text } = await (await admin()).get('/');
    expect(text).not.toContain('All is well');
    expect(text).toContain('<a href="/register">See how far');
  });

  it('explains its empty parts', async () => {
    const { admin } = await startPages({ engine, now });
    const { text } = await (await admin()).get('/');
    expect(text).toContain('will appear here, by kind');
    expect(text).toContain('will appear here, by queue');
  });

  it('lists problems, each with its count and a link', async () => {
    const { admin, store } = await startPages({ engine, now });
    await store.write(async (tx) => {
      for (const recordId of ['1', '2', '3'])
        await linkRecord(tx, { provider: 'crm', recordId, entity: COMPANY, sendUpdate: false, now: NOW });
      await tx.updateTable('link').set({ state: 'conflict' }).where('record_id', '!=', '3').execute();
      await tx.deleteFrom('lane').execute();
      await mark(tx, 'watch', ['cvr'], NOW - 3 * HOUR_MS);
      await tx.updateTable('lane').set({ error: 'answered <b>503</b>' }).execute();
      const state = { provider: 'crm', record_id: '3', property: 'name' };
      await tx
        .insertInto('property_state')
        .values({
          ...state,
          kept: '"Birk"',
          offered: '"Birk ApS"',
          kept_at: NOW,
          refused: null,
          refused_reason: null,
          refused_schema: null,
        })
        .execute();
    });
    const { text } = await (await admin()).get('/');
    expect(text).not.toContain('All is well');
    expect(text).toContain('<a href="/inbox?kind=link">Links in conflict or refused: 2</a>');
    expect(text).toMatch(/href="\/inbox\?kind=difference">\s*1 property holds another value/);
    expect(text).toMatch(/cvrsync cannot read the source cvr \(since/);
    expect(text).toContain('3 things need you');
    expect(text).toContain('behind 3 hr');
    expect(text).toContain('answered &lt;b>503');
  });

  it('has a card for each waiting kind, with its count, its age and one button that names its effect', async () => {
    const { signedIn, store } = await startPages({ engine, now });
    await store.write(async (tx) => {
      for (const recordId of ['1', '2'])
        await linkRecord(tx, { provider: 'crm', recordId, entity: COMPANY, sendUpdate: false, now: NOW });
      await tx.deleteFrom('lane').execute();
      await mark(tx, 'sync:crm', ['1', '2', '3'], NOW - 5 * HOUR_MS);
      await tx
        .updateTable('lane')
        .set((row) => ({
          parked_at: row
            .case()
            .when('key', '=', '1')
            .then(NOW - 3 * HOUR_MS)
            .else(NOW)
            .end(),
          error: 'x',
        }))
        .execute();
      await tx.updateTable('link').set({ state: 'conflict' }).where('record_id', '=', '2').execute();
    });
    const cards = async (role: 'viewer' | 'operator') => {
      const { text } = await (await signedIn(role)).get('/');
      const [, list = ''] = /<ul class="cards">(.*?)<\/ul>/su.exec(text) ?? [];
      return { text, all: list.split('<li>').slice(1) };
    };
    const { text, all } = await cards('operator');
    expect(all).toHaveLength(2);
    const [failed = '', link = ''] = all.toSorted((a) => (a.includes('kind=lane') ? -1 : 1));
    expect(failed).toContain(': 3</a>');
    expect(failed).toMatch(/the oldest <time [^>]*>3 hours ago<\/time>/u);
    expect(failed).toMatch(
      /<form method="post" action="\/runs\/answers">.*<button name="verb" value="retry-lane">[^<]+ …<\/button>/su,
    );
    expect(link.match(/<button|class="button"/gu)).toHaveLength(1);
    expect(text).toMatch(/Inbox<\/a> <span class="count" title="waiting for you">4</u);
    const viewer = await cards('viewer');
    expect(viewer.all.join('')).not.toContain('<button');
    expect(viewer.all.join('').match(/>See which</gu)).toHaveLength(2);
  });

  it('shows a connection that answers, one that is paused and one that is silent', async () => {
    const store = await newStore(engine);
    const crms = ['well', 'tired', 'mute'].map((name) => ({ ...toyCrm(store), name }));
    const pages = await startPages({ engine, now, crms });
    const limiter = createRateLimiter({
      store: pages.store,
      key: 'tired',
      budgets: { default: { calls: 1, perMs: 1 } },
      now,
    });
    await limiter.block(NOW + HOUR_MS, 'the daily limit is spent', 'rate');
    const outage = { account: 'mute', since: NOW - HOUR_MS, failure: 'no answer (timeout)' };
    await pages.store.write(async (tx) => {
      await writeValue(tx, 'outage:mute', JSON.stringify(outage), NOW);
      await writeHistory(tx, [{ ...decision('7', 'write'), provider: 'well' }], [], NOW - 5 * 60_000);
    });
    const { text } = await (await pages.admin()).get('/');
    const row = (name: string) => text.split('<tr>').find((each) => each.includes(`>${name}</a>`)) ?? '';
    expect(row('well')).toContain('answers');
    expect(row('well')).toContain('5 minutes ago');
    expect(row('tired')).toContain('paused');
    expect(row('tired')).toContain('in 1 hour');
    expect(row('tired')).toContain('the daily limit is spent');
    expect(row('mute')).toContain('does not answer');
    expect(row('mute')).toContain('no answer (timeout)');
    expect(row('mute')).toContain('not lately');
  });

  it('does not say that a connection with refused credentials recovers by itself, or that all is well', async () => {
    const store = await newStore(engine);
    const pages = await startPages({ engine, now, crms: [{ ...toyCrm(store), name: 'locked-out' }] });
    const limiter = createRateLimiter({ store: pages.store, key: 'locked-out', budgets: {}, now });
    await limiter.block(NOW + 60_000, 'the token is refused', 'auth');
    const { text } = await (await pages.admin()).get('/');
    expect(text).toMatch(/is tried again <time/);
    expect(text).not.toContain('continues');
    expect(text).not.toContain('All is well');
  });

  it('leaves out the half that does not run', async () => {
    const connector = await startPages({ engine, now, halves: { connector: true, service: false } });
    const alone = (await (await connector.admin()).get('/')).text;
    expect(alone).toContain('Connections');
    expect(alone).not.toContain('Deliveries made');
    expect(alone).not.toContain('Register and other sources');
    const service = await startPages({ engine, now, halves: { connector: false, service: true } });
    const other = (await (await service.admin()).get('/')).text;
    expect(other).not.toContain('Connections');
    expect(other).not.toContain('Edits kept');
    expect(other).toContain('Deliveries made');
  });

  it('charts the last 24 hours or 30 days, and shows the same as a table', async () => {
    const { admin, store } = await startPages({ engine, now });
    const ida = await admin();
    for (const hours of [40 * 24, 30, 5, 0.1]) {
      const at = NOW - hours * HOUR_MS;
      await store.write((tx) => writeHistory(tx, [decision('1', 'write'), decision('2', 'keep')], [], at));
    }
    await countDecisions({ store, now }, new AbortController().signal);
    const figures = (text: string) =>
      [...text.matchAll(/<figcaption>\s*([^<]+?)\s*<strong>([^<]+)<\/strong>/gu)].map(([, name, figure]) => [
        name,
        figure,
      ]);
    const hours = (await ida.get('/')).text;
    expect(figures(hours)).toEqual(
      expect.arrayContaining([
        ['Values written', '2'],
        ['Edits kept', '2'],
        ['Values refused', '0'],
      ]),
    );
    expect(hours).toContain('Last 24 hours');
    expect(hours.match(/<td class="number" data-label="Values written"><div>1<\/div>/gu)).toHaveLength(2);
    const days = (await ida.get('/?span=day')).text;
    expect(figures(days)).toEqual(expect.arrayContaining([['Values written', '3']]));
    // A bar leads to the writes of its time.
    expect(hours).toContain('<a href="/writes?since=2026-03-01T08%3A00&amp;until=2026-03-01T09%3A00"');
  });

  it('counts the records of each connection that are in sync, and links to the others', async () => {
    const { admin, store } = await startPages({ engine, now });
    await store.write(async (tx) => {
      for (const recordId of ['1', '2', '3', '4'])
        await linkRecord(tx, { provider: 'crm', recordId, entity: COMPANY, sendUpdate: false, now: NOW });
      const state = { provider: 'crm', record_id: '2', property: 'name', kept: '"a"', offered: '"b"' } as const;
      await tx.insertInto('property_state').values(state).execute();
    });
    await countRecordStates({ store, now }, new AbortController().signal);
    const { text } = await (await admin()).get('/');
    expect(text).toContain('<a href="/connections/crm">in sync 3</a> (75%)');
    // So are the parts of the bar.
    expect(text).toMatch(/<a href="\/connections\/crm" tabindex="-1"><rect class="sync"/u);
    expect(text).toMatch(/<a href="\/inbox\?kind=difference&amp;provider=crm" tabindex="-1"><rect class="differing"/u);
    expect(text).toContain('<a href="/inbox?kind=difference&amp;provider=crm">differ 1</a>');
  });
});

describe('the calls of a connection', () => {
  it('are those of the last minute', async () => {
    const metrics = createMetrics();
    let elapsed = 0;
    const meter = startCallMeter(metrics, () => elapsed);
    onTestFinished(() => meter.stop());
    const call = (count: number) => metrics.crmCalls.inc({ provider: 'hubspot', code: '200' }, count);
    expect(await meter.read()).toEqual(new Map());
    call(5);
    expect(await meter.read()).toEqual(new Map([['hubspot', 5]]));
    elapsed = 30_000;
    call(3);
    metrics.crmCalls.inc({ provider: 'hubspot', code: '429' });
    expect(await meter.read()).toEqual(new Map([['hubspot', 9]]));
    elapsed = 70_000;
    call(2);
    expect(await meter.read()).toEqual(new Map([['hubspot', 2]]));
  });
});

describe('slow figures', () => {
  it('are read once for all waiting requests, and the old ones are shown while they are read again', async () => {
    let [elapsed, reads] = [0, 0];
    const waiting: (() => void)[] = [];
    const read = recently(
      10,
      () => elapsed,
      async () => {
        reads += 1;
        const value = reads;
        await new Promise<void>((resolve) => void waiting.push(resolve));
        return value;
      },
    );
    const first = Promise.all([read(), read()]);
    waiting.pop()?.();
    expect(await first).toEqual([1, 1]);
    elapsed = 9;
    expect([await read(), reads]).toEqual([1, 1]);
    elapsed = 10;
    expect([await read(), await read(), reads]).toEqual([1, 1, 2]);
    waiting.pop()?.();
    await expect.poll(read).toBe(2);
  });

  it('delay the page if the last ones are older than a minute', async () => {
    let [elapsed, reads] = [0, 0];
    const read = recently(
      30_000,
      () => elapsed,
      async () => {
        reads += 1;
        return reads;
      },
    );
    expect(await read()).toBe(1);
    elapsed = 20 * 60_000;
    expect(await Promise.all([read(), read()])).toEqual([2, 2]);
    elapsed += 60_000;
    expect(await read()).toBe(2);
  });

  it('are kept if reading them again fails', async () => {
    let elapsed = 0;
    const read = recently(
      10,
      () => elapsed,
      async () => {
        if (elapsed > 0) throw new Error('the store does not answer');
        return 'figures';
      },
    );
    expect(await read()).toBe('figures');
    elapsed = 10;
    for (let time = 0; time < 3; time += 1) expect(await read()).toBe('figures');
  });
});
