import { describe, expect, it } from 'vitest';
import { claim, mark } from '../../../src/runtime/lanes/lanes.ts';
import { SourceError } from '../../../src/service/register/source/source.ts';
import { pollReports } from '../../../src/service/reports/poll.ts';
import { runReports } from '../../../src/service/reports/report-worker.ts';
import type { Store } from '../../../src/store/store.ts';
import { newStore } from '../../support/stores.ts';
import { annual, instance } from './instance.ts';
import { openRegister, type Polling, type Publication, polling, type Register, recordOf } from './register.ts';

const HOUR = 3_600_000;
/** A whole answer without a filing. */
const WHOLE = { timed_out: false, _shards: { total: 5, successful: 5, failed: 0 }, hits: { hits: [] } };
const report = (assets: number) => instance(annual({ figures: { 'fsa:Assets': assets } }));
const minutesPast = (hour: number, minutes: number) => new Date(Date.UTC(2024, 4, 20, hour, minutes)).toISOString();
const filings = (store: Store) => store.db.selectFrom('filing').selectAll().orderBy('id').execute();
const assetsTold = ({ told }: Polling) => told.map(({ updates }) => updates.newReport?.data.assets?.value ?? null);
const many = (register: Register, count: number, first = 10): readonly Publication[] =>
  Array.from({ length: count }, (_, n) => {
    register.files.set(`${first + n}.xml`, report(first + n));
    return { id: first + n, cvr: 90000007 + first + n, published: minutesPast(7, n) };
  });

async function begun(settings = {}): Promise<{ store: Store; register: Register; watch: Polling }> {
  const [store, register] = [await newStore('sqlite'), await openRegister()];
  const watch = polling(store, register, settings);
  await watch.poll();
  watch.time += 6 * HOUR;
  return { store, register, watch };
}

describe('pages of the index', () => {
  it('follow each other to the end, even if filings at their edge share a time', async () => {
    const { register, watch } = await begun({ pageSize: 4 });
    const list = many(register, 10);
    const sameMoment = list.map((one, n) =>
      n >= 2 && n < 6 ? { ...one, published: minutesPast(7, 2), cvr: 90000007 } : one,
    );
    register.publish(...sameMoment);
    await watch.poll();
    expect(assetsTold(watch).toSorted()).toEqual(list.map(({ id }) => id));
    expect(register.queries.length).toBeGreaterThan(2);
  });

  it('may come in any order, twice, and with unreadable records', async () => {
    const { store, register, watch } = await begun();
    register.publish(...many(register, 6));
    register.twist = (hits) => [
      null,
      { _id: 'urn:odd' },
      ...hits.toReversed(),
      ...hits.slice(2),
      'x',
      { _id: 'urn:ofk:oid:99', _source: { cvrNummer: 'x' } },
    ];
    await watch.poll();
    await watch.poll();
    expect(assetsTold(watch)).toEqual([10, 11, 12, 13, 14, 15]);
    expect((await filings(store)).filter(({ entity }) => entity === '').map(({ id }) => id)).toEqual([
      'urn:odd',
      'urn:ofk:oid:99',
    ]);
  });

  it('that repeat themselves do not block the poll', async () => {
    const { register, watch } = await begun({ pageSize: 3 });
    const hits = many(register, 3).map((one) => recordOf(one, register.documents.url));
    register.twist = () => hits;
    await watch.poll();
    expect(assetsTold(watch).length).toBeGreaterThan(0);
    expect(register.queries.length).toBeLessThan(5);
  });

  it('overlap a little for late filings, and far back four times a day', async () => {
    const { register, watch } = await begun();
    const [first, late, veryLate, ...rest] = many(register, 8);
    if (first === undefined || late === undefined || veryLate === undefined) throw new Error('too few');
    register.publish(...rest);
    await watch.poll();
    watch.time += 60_000;
    register.publish({ ...late, published: minutesPast(7, 1) });
    await watch.poll();
    watch.time += 60_000;
    register.publish({ ...veryLate, published: minutesPast(6, 30) });
    await watch.poll();
    expect(assetsTold(watch)).not.toContain(veryLate.id);
    watch.time += 6 * HOUR;
    await watch.poll();
    expect(assetsTold(watch)).toEqual([...rest.map(({ id }) => id), late.id, veryLate.id]);
  });

  it('are not skipped because one record claims to be from the future', async () => {
    const { register, watch } = await begun();
    const [odd, ...rest] = many(register, 4);
    register.publish({ ...odd, id: 10, published: '2031-01-01T00:00:00.000Z' });
    await watch.poll();
    watch.time += HOUR;
    register.publish(...rest.map((one) => ({ ...one, published: new Date(watch.time - 60_000).toISOString() })));
    await watch.poll();
    expect(assetsTold(watch)).toEqual([10, 11, 12, 13]);
  });

  it('are requested from the last position after hours offline', async () => {
    const { register, watch } = await begun();
    register.publish(...many(register, 3));
    register.index.fault({ match: 'offentliggoerelser', times: 3, action: { kind: 'status', status: 503 } });
    for (let n = 0; n < 3; n++) {
      await expect(watch.poll()).rejects.toThrow(SourceError);
      watch.time += 3 * HOUR;
    }
    await watch.poll();
    expect(assetsTold(watch)).toEqual([10, 11, 12]);
  });

  it.each([
    ['a status', { kind: 'status', status: 500 }],
    ['something else', { kind: 'status', status: 200, body: '<html>' }],
    ['half an answer', { kind: 'cut', applied: true }],
    ['a closed connection', { kind: 'reset' }],
    ['an answer without hits', { kind: 'status', status: 200, body: { error: 'x' } }],
    ['an answer that ran out of time', { kind: 'status', status: 200, body: { ...WHOLE, timed_out: true } }],
    ['an answer that ended early', { kind: 'status', status: 200, body: { ...WHOLE, terminated_early: true } }],
    [
      'an answer that lacks a shard which counts as neither successful nor failed',
      { kind: 'status', status: 200, body: { ...WHOLE, _shards: { total: 5, successful: 4, failed: 0 } } },
    ],
    ['an answer that says nothing of shards', { kind: 'status', status: 200, body: { hits: { hits: [] } } }],
  ] as const)('that are %s are requested again, and nothing is lost', async (_, action) => {
    const { register, watch } = await begun();
    register.publish(...many(register, 2));
    register.index.fault({ match: 'offentliggoerelser', action });
    await expect(watch.poll()).rejects.toThrow(SourceError);
    await watch.poll();
    expect(assetsTold(watch)).toEqual([10, 11]);
  });
});

describe('a document that cannot be fetched now', () => {
  it('is retried at growing intervals, and then reported once', async () => {
    const { store, register, watch } = await begun();
    register.publish({ id: 1, published: minutesPast(7, 0) });
    register.files.set('1.xml', 503);
    const waits: number[] = [];
    for (let n = 0; n < 3; n++) {
      await watch.poll();
      const [row] = await filings(store);
      expect(row).toMatchObject({ data: null, attempts: n + 1, error: expect.stringMatching(/503/) });
      waits.push((row?.retry_at ?? 0) - watch.time);
      watch.time = row?.retry_at ?? 0;
    }
    expect(waits[0]).toBeGreaterThanOrEqual(60_000);
    expect(waits[2]).toBeGreaterThan((waits[0] ?? 0) * 2);
    expect(watch.told).toEqual([]);
    register.files.set('1.xml', report(7));
    await watch.poll();
    await watch.poll();
    expect(assetsTold(watch)).toEqual([7]);
    expect(await filings(store)).toMatchObject([{ retry_at: null, record: null, error: null }]);
  });

  it('is given up after two days, and its report is published with its address', async () => {
    const { store, register, watch } = await begun();
    register.publish({ id: 1, published: minutesPast(7, 0) });
    const began = watch.time;
    for (let n = 0; n < 20 && watch.told.length === 0; n++) {
      await watch.poll();
      watch.time = (await filings(store))[0]?.retry_at ?? watch.time;
    }
    expect((watch.time - began) / HOUR).toBeGreaterThan(36);
    expect(watch.told[0]?.updates.newReport?.data).toMatchObject({ assets: null, reportYear: 2023 });
    expect(await filings(store)).toMatchObject([{ retry_at: null, error: expect.stringMatching(/404/) }]);
  });

  it('does not delay the others, and a host that is down is skipped for this poll', async () => {
    const { store, register, watch } = await begun();
    register.publish(...many(register, 10));
    register.files.set('10.xml', 500).set('11.xml', 500);
    await watch.poll();
    expect(assetsTold(watch)).toEqual([12, 13, 14, 15, 16, 17, 18, 19]);
    register.publish(...many(register, 10, 30));
    for (let id = 30; id < 40; id++) register.files.set(`${id}.xml`, 500);
    const asked = register.documents.calls.length;
    await watch.poll();
    expect(register.documents.calls.length - asked).toBe(3);
    const waiting = (await filings(store)).filter(({ retry_at }) => retry_at !== null);
    expect(waiting.map(({ attempts }) => attempts).toSorted()).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    for (let id = 10; id < 40; id++) register.files.set(`${id}.xml`, report(id));
    watch.time += HOUR;
    await watch.poll();
    expect(new Set(assetsTold(watch)).size).toBe(20);
  });

  it('from another host, or larger than it may be, is not read at all', async () => {
    const { store, register, watch } = await begun({ maxBytes: 5_000 });
    const [elsewhere] = many(register, 1);
    register.records.push(recordOf({ ...elsewhere, id: 1, published: minutesPast(7, 0) }, 'http://evil.example'));
    register.publish({ id: 2, cvr: 90000015, published: minutesPast(7, 1) });
    register.files.set('2.xml', Buffer.alloc(10_000_000, ' '));
    await watch.poll();
    expect((await filings(store)).map(({ error }) => error)).toEqual([
      expect.stringMatching(/evil\.example, which is not a configured host/),
      expect.stringMatching(/more than 5000 bytes/),
    ]);
    expect(watch.told).toHaveLength(2);
  });
});

describe('the lane of reports', () => {
  const lane = (store: Store) => store.db.selectFrom('lane').select(['due_at', 'attempts', 'error']).executeTakeFirst();

  it('runs again at the next poll, and earlier, at growing intervals, while the index is unreadable', async () => {
    const { store, register, watch } = await begun();
    const run = async () => {
      const [held] = await claim(store, 'watch', { limit: 1, now: watch.time, leaseMs: 30_000 });
      if (held === undefined) throw new Error('nothing was due');
      await runReports(watch.deps, held, new AbortController().signal);
      return lane(store);
    };
    await store.write((tx) => mark(tx, 'watch', ['reports'], watch.time));
    expect(await run()).toMatchObject({ due_at: watch.time + 300_000, attempts: 0, error: null });
    watch.time += 300_000;
    register.index.fault({
      match: 'offentliggoerelser',
      action: { kind: 'status', status: 429, headers: { 'retry-after': '90' } },
    });
    expect(await run()).toMatchObject({
      due_at: watch.time + 90_000,
      attempts: 1,
      error: expect.stringMatching(/429/),
    });
    watch.time += 90_000;
    expect(await run()).toMatchObject({ attempts: 0, error: null });
  });

  it('stops in the middle of a page if it must, and resumes there', async () => {
    const { register, watch } = await begun();
    register.publish(...many(register, 5));
    const stopping = new AbortController();
    const deps = {
      ...watch.deps,
      publish: async (...args: Parameters<typeof watch.deps.publish>) => {
        await watch.deps.publish(...args);
        if (watch.told.length === 2) stopping.abort(new Error('stopped'));
      },
    };
    await expect(pollReports(deps, stopping.signal)).rejects.toThrow('stopped');
    await watch.poll();
    expect(assetsTold(watch)).toEqual([10, 11, 12, 13, 14]);
  });
});
