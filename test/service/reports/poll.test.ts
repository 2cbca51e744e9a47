import { describe, expect, it } from 'vitest';
import type { Change } from '../../../src/service/changes/change.ts';
import { publish } from '../../../src/service/publish/publish.ts';
import { pollReports } from '../../../src/service/reports/poll.ts';
import { latestReports } from '../../../src/service/reports/store-filing.ts';
import type { Store, Tx } from '../../../src/store/store.ts';
import { eraseByHand } from '../../commands/erase/by-hand.ts';
import { ENGINES, newStore } from '../../support/stores.ts';
import { annual, instance } from './instance.ts';
import { page } from './page.ts';
import { openRegister, type Polling, polling, type Register } from './register.ts';

const report = (assets: number, end = '2023-12-31', cvr = '90000007') =>
  instance(annual({ cvr, start: `${end.slice(0, 4)}-01-01`, end, figures: { 'fsa:Assets': assets } }));
const at = (time: string) => `2024-05-20T${time}:00.000Z`;
const filings = (store: Store) => store.db.selectFrom('filing').selectAll().orderBy('id').execute();
const assetsTold = ({ told }: Polling) => told.map(({ updates }) => updates.newReport?.data.assets?.value ?? null);

/** Watching began at six; the clock stands at noon. */
async function begun(
  engine: (typeof ENGINES)[number],
  settings = {},
): Promise<{ store: Store; register: Register; watch: Polling }> {
  const [store, register] = [await newStore(engine), await openRegister()];
  const watch = polling(store, register, settings);
  await watch.poll();
  watch.time = Date.parse(at('12:00'));
  return { store, register, watch };
}

describe.each(ENGINES)('the filing index, into %s', (engine) => {
  it('is read from now on: earlier filings are not reported', async () => {
    const [store, register] = [await newStore(engine), await openRegister()];
    const watch = polling(store, register);
    register.publish(
      { id: 1, published: at('05:00') },
      { id: 2, published: '2019-05-20T08:00:00.000Z', updated: at('09:00') },
    );
    await watch.poll();
    expect(register.queries).toEqual([]);
    watch.time = Date.parse(at('12:00'));
    register.files.set('3.xml', report(3));
    register.publish({ id: 3, published: at('07:00') });
    await watch.poll();
    expect(assetsTold(watch)).toEqual([3]);
    expect((await filings(store)).map(({ id }) => id)).toEqual(['urn:ofk:oid:3']);
  });

  it('gives a change with the report, and keeps what was read', async () => {
    const { store, register, watch } = await begun(engine, { deprecatedReport: true });
    register.files.set('1.xml', report(1_000));
    register.publish({ id: 1, published: at('07:00') });
    await watch.poll();
    expect(watch.told).toMatchObject([
      { entity: 'CVR-1-90000007', name: 'Rugbrød og Rav ApS', kind: 'report', timestamp: at('07:00') },
    ]);
    const { newReport } = watch.told[0]?.updates ?? {};
    expect(newReport).toMatchObject({
      data: { assets: { value: 1_000 }, reportUrl: `${register.documents.url}/1.pdf` },
      Report: { assets: { value: '1000' } },
    });
    const [row] = await filings(store);
    expect(row).toMatchObject({
      entity: 'CVR-1-90000007',
      period_start: '2023-01-01',
      period_end: '2023-12-31',
      published_at: at('07:00'),
      error: null,
      retry_at: null,
    });
    expect(JSON.parse(row?.data ?? '')).toEqual(newReport?.data);
  });

  it('is published like any other change, to every monitor that asked', async () => {
    const { store, register, watch } = await begun(engine);
    register.files.set('1.xml', report(1_000));
    register.publish({ id: 1, published: at('07:00') });
    let rings = 0;
    const deps = {
      ...watch.deps,
      publish: (tx: Tx, changes: readonly Change[]) => publish(tx, changes, { now: watch.time }),
      ring: () => {
        rings += 1;
      },
    };
    for (let n = 0; n < 2; n++) await pollReports(deps, new AbortController().signal);
    const changes = await store.db.selectFrom('change').select(['entity', 'kind', 'updates']).execute();
    expect(changes).toMatchObject([{ entity: 'CVR-1-90000007', kind: 'report' }]);
    expect(JSON.parse(changes[0]?.updates ?? '')).toMatchObject({ newReport: { data: { assets: { value: 1_000 } } } });
    expect(rings).toBe(1);
  });

  it('requests no filing of an erased company at any poll, and reports the others', async () => {
    const { store, register, watch } = await begun(engine);
    await eraseByHand(store, 'CVR-1-90000007');
    for (const id of [1, 2]) register.files.set(`${id}.xml`, report(id));
    register.publish({ id: 1, published: at('07:00') }, { id: 2, cvr: 90000015, published: at('06:30') });
    for (let n = 0; n < 3; n += 1) await watch.poll();
    expect(assetsTold(watch)).toEqual([2]);
    expect(register.documents.calls).toEqual(['/2.xml']);
  });

  it('is reported once, also if polled again, and after a crash in the middle of a page', async () => {
    const { store, register, watch } = await begun(engine);
    for (const id of [1, 2, 3]) register.files.set(`${id}.xml`, report(id));
    register.publish(
      { id: 1, published: at('07:00') },
      { id: 2, cvr: 90000015, published: at('08:00') },
      { id: 3, cvr: 90000023, published: at('09:00') },
    );
    let publications = 0;
    const dying = {
      ...watch.deps,
      publish: async () => {
        publications += 1;
        if (publications === 2) throw new Error('killed');
      },
    };
    await expect(pollReports(dying, new AbortController().signal)).rejects.toThrow('killed');
    expect((await filings(store)).map(({ id }) => id)).toEqual(['urn:ofk:oid:1']);
    await watch.poll();
    await watch.poll();
    expect(assetsTold(watch)).toEqual([2, 3]);
  });

  it('reports a re-filing as new, and one that came too late not at all', async () => {
    const { register, watch } = await begun(engine);
    for (const id of [1, 2, 3]) register.files.set(`${id}.xml`, report(id));
    register.publish({ id: 1, published: at('07:00') });
    await watch.poll();
    register.publish({ id: 2, published: at('08:00') }, { id: 3, published: at('07:30'), updated: at('09:00') });
    await watch.poll();
    expect(assetsTold(watch)).toEqual([1, 2]);
    expect(new Set(watch.told.map(({ id }) => id)).size).toBe(2);
  });

  it('reports no filing that is older than a reported one', async () => {
    const { store, register, watch } = await begun(engine);
    for (const year of [2022, 2023]) register.files.set(`${year}.xml`, report(year, `${year}-12-31`));
    const of = (year: number, time: string) => ({
      ...{ id: year, published: at(time), files: [`${year}.xml`] },
      ...{ start: `${year}-01-01`, end: `${year}-12-31` },
    });
    register.publish(of(2023, '07:00'), of(2022, '08:00'));
    await watch.poll();
    expect(assetsTold(watch)).toEqual([2023]);
    expect(await filings(store)).toHaveLength(2);
  });

  it('compares with last year’s report', async () => {
    const { register, watch } = await begun(engine);
    register.files.set('1.xml', report(5_000_000, '2022-12-31')).set('2.xml', report(5_000));
    register.publish(
      { id: 1, start: '2022-01-01', end: '2022-12-31', published: at('07:00') },
      { id: 2, published: at('08:00') },
    );
    await watch.poll();
    expect(watch.told.map(({ updates }) => updates.newReport?.data.assets?.possibleError)).toEqual([false, true]);
  });

  it('keeps figures as long as they are compared with, and the newest of each company', async () => {
    const { store, register, watch } = await begun(engine);
    const ends = ['2023-12-31', '2021-12-31', '2022-12-31'];
    ends.forEach((end, n) => {
      register.files.set(`${n}.xml`, report(n + 1, end));
      register.publish({ id: n, start: `${end.slice(0, 4)}-01-01`, end, published: at(`0${7 + n}:00`) });
    });
    register.files.set('9.xml', report(9, '2024-12-31'));
    await watch.poll();
    const known = ['CVR-1-90000007', 'CVR-1-90000015'];
    expect([...(await latestReports(store.db, known))].map(([entity, data]) => [entity, data.assets?.value])).toEqual([
      ['CVR-1-90000007', 1],
    ]);
    register.publish({ id: 9, start: '2024-01-01', end: '2024-12-31', published: at('11:00') });
    await watch.poll();
    expect((await latestReports(store.db, known)).get('CVR-1-90000007')?.assets?.value).toBe(9);
    const kept = (await filings(store)).filter(({ data }) => data !== null).map(({ period_end }) => period_end);
    expect(kept.toSorted()).toEqual(['2023-12-31', '2024-12-31']);
  });

  it('does not publish interim reports', async () => {
    const { store, register, watch } = await begun(engine);
    const texts = { 'gsd:InformationOnTypeOfSubmittedReport': 'Halvårsrapport' };
    register.files.set('1.xml', instance(annual({ end: '2023-06-30', texts })));
    register.publish({ id: 1, end: '2023-06-30', published: at('07:00') });
    await watch.poll();
    expect(watch.told).toEqual([]);
    expect(await filings(store)).toHaveLength(1);
  });

  it('reads a listed company’s figures from its page, and its auditor from the document beside it', async () => {
    const { register, watch } = await begun(engine);
    register.files.set('1.xml', instance(annual({ texts: { 'cmn:NameAndSurnameOfAuditor': 'Asta Aks' } })));
    register.files.set('1.xhtml', page(annual({ figures: { 'ifrs-full:Assets': 9_000_000 } }), { thousands: true }));
    register.publish({ id: 1, published: at('07:00'), files: ['1.zip', '1.xhtml', '1.xml', '1.pdf'] });
    await watch.poll();
    const data = watch.told[0]?.updates.newReport?.data;
    expect([data?.assets?.value, data?.auditors[0]?.name]).toEqual([9_000_000, 'Asta Aks']);
  });

  it('reports the address of an unreadable report: a picture, or a broken document', async () => {
    const { store, register, watch } = await begun(engine);
    register.files.set('2.xml', '<xbrl><open>').set('3.xml', report(3)).set('4.xml', 403);
    register.publish(
      { id: 1, cvr: 90000015, published: at('07:00'), files: ['1.pdf'] },
      { id: 2, cvr: 90000023, published: at('07:01') },
      { id: 3, published: at('07:02') },
      { id: 4, cvr: 90000031, published: at('07:03') },
    );
    await watch.poll();
    expect(assetsTold(watch)).toEqual([null, null, 3, null]);
    expect(watch.told.map(({ updates }) => updates.newReport?.data.reportUrl?.slice(-5))).toEqual([
      '1.pdf',
      '2.pdf',
      '3.pdf',
      '4.pdf',
    ]);
    expect((await filings(store)).map(({ error }) => error)).toEqual([
      null,
      expect.stringMatching(/not well-formed/),
      null,
      expect.stringMatching(/answered with 403/),
    ]);
  });
});
