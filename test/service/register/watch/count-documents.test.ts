/** Compares the register's own count with the store: documents that a load lost are found, reported, and read again. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { conditionsOf } from '../../../../src/alerts/conditions.ts';
import { observe } from '../../../../src/alerts/observe.ts';
import { serveRegister } from '../../../../src/commands/emulate/register.ts';
import { openClient } from '../../../../src/http/outbound/client.ts';
import { checkRegisters } from '../../../../src/service/check-register.ts';
import { createCvrSource } from '../../../../src/service/register/source/cvr.ts';
import { readCount, readMissing } from '../../../../src/service/register/watch/count-documents.ts';
import { measureRegister } from '../../../../src/service/register/watch/progress.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../../../support/stores.ts';
import { setWatch } from '../watch-fixture.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

async function fixtureOn(engine: (typeof ENGINES)[number]) {
  const emulator = await serveRegister({ companies: 120, seed: 5 });
  onTestFinished(() => emulator.close());
  const { http, close } = openClient();
  onTestFinished(close);
  const store = await newStore(engine);
  const register = { ...emulator.settings, pageSize: 50, requestsPerSecond: 2_000 };
  const watch = await setWatch(store, {
    source: (now) => createCvrSource({ ...register, pollMs: 30_000, http, store, now }),
  });
  const numbers = async () => (await store.db.selectFrom('snapshot').select('entity').execute()).length;
  return {
    ...watch,
    emulator,
    numbers,
    /** The register is asked, read to its end, and counted. */
    async count() {
      for (const key of ['count', 'cvr', 'count']) {
        watch.forward(MINUTE);
        await watch.run(key);
      }
    },
    lose: (count: number) =>
      store.write(async (tx) => {
        const rows = await tx.selectFrom('snapshot').select('entity').orderBy('entity').limit(count).execute();
        const lost = rows.map(({ entity }) => entity);
        await tx.deleteFrom('snapshot').where('entity', 'in', lost).execute();
      }),
    check: () =>
      checkRegisters(
        { store, http, now: watch.now },
        { register: { ...register, pollSeconds: 30 } },
        new AbortController().signal,
      ),
    async metric() {
      await measureRegister(store.db, [watch.source], watch.deps.metrics, watch.now());
      const { values } = await watch.deps.metrics.registerCount.get();
      return Object.fromEntries(values.map(({ labels, value }) => [`${labels.part} ${labels.where}`, value]));
    },
  };
}

describe.each(SUITE_ENGINES)('the count of the register, on %s', (engine) => {
  it('waits for the end of the first load, and agrees with the store', async () => {
    const { run, count, check, metric, store, now, numbers } = await fixtureOn(engine);
    await run('count');
    expect(await readCount(store.db)).toBeUndefined();
    await run();
    await count();
    const units = (await numbers()) - 120;
    expect(await metric()).toMatchObject({
      'companies source': 120,
      'companies store': 120,
      'production units source': units,
      'production units store': units,
    });
    expect(await readMissing(store.db)).toEqual([]);
    expect((await observe(store, now(), 100)).missing).toEqual([]);
    const found = (await check()).map((one) => `${one.level} ${one.found}`);
    expect(found).toContainEqual(
      expect.stringMatching(/^info the register counted 120 companies at .*, 120 are stored$/),
    );
    expect(found).toContainEqual(expect.stringMatching(/^ok /));
  });

  it('that differs raises an alert and begins a sweep, which adds missing documents and notifies nobody', async () => {
    const { run, count, lose, check, metric, store, now, numbers, changes, warnings } = await fixtureOn(engine);
    await run();
    const whole = await numbers();
    await lose(19);
    await count();
    expect(await metric()).toMatchObject({ 'companies source': 120, 'companies store': 101 });
    expect((await observe(store, now(), 100)).missing).toMatchObject([{ part: 'companies', source: 120, stored: 101 }]);
    expect(await check()).toContainEqual(
      expect.objectContaining({ level: 'warn', found: expect.stringContaining('101') }),
    );
    expect(warnings).toContain('documents are missing: reading everything again');
    await run();
    expect(await numbers()).toBe(whole);
    await count();
    expect((await observe(store, now(), 100)).missing).toEqual([]);
    expect(await changes()).toEqual([]);
  });

  it('begins no second sweep for what the first did not find, or for what was erased', async () => {
    const { run, count, lose, forward, emulator, store, now, warnings } = await fixtureOn(engine);
    await run();
    const sweeps = () => warnings.filter((text) => text.includes('reading everything again')).length;
    const companies = [...emulator.documents.virksomhed.keys()].toSorted();
    await lose(2);
    // The register counts them, and gives documents that cannot be read.
    for (const key of companies.slice(0, 2)) {
      const sidstIndlaest = '2020-01-01T00:00:00Z';
      emulator.put({ Vrvirksomhed: { cvrNummer: Number(key), sidstIndlaest, navne: 7 } });
    }
    await count();
    await run();
    await count();
    expect(sweeps()).toBe(1);
    forward(DAY);
    await run();
    await count();
    expect(sweeps()).toBe(1);
    await lose(1);
    const erasure = { digest: 'x', erased_with: 'x', begun_at: now(), done_at: null, rest: null };
    await store.write((tx) => tx.insertInto('erasure').values(erasure).execute());
    forward(DAY);
    await run();
    await count();
    expect(sweeps()).toBe(1);
    await lose(3);
    forward(DAY);
    await run();
    await count();
    expect(sweeps()).toBe(2);
  });

  it('is requested again if the answer lacks a shard', async () => {
    const { run, count, emulator, store, now } = await fixtureOn(engine);
    await run();
    emulator.partial = 'shard';
    await run('count');
    expect((await observe(store, now(), 100)).behind.map(({ source }) => source)).toContain('count');
    expect(await readCount(store.db)).toBeUndefined();
    emulator.partial = undefined;
    await run();
    for (let n = 0; n < 5; n++) await count();
    expect((await readCount(store.db))?.counts).toContainEqual({ part: 'companies', source: 120, stored: 120 });
  });

  it('leaves an outage of the register to the lane of its pages to report', async () => {
    const { run, emulator, store, now, forward } = await fixtureOn(engine);
    await run();
    emulator.fault({ match: '', times: 'always', action: { kind: 'status', status: 503 } });
    await run('count');
    expect((await observe(store, now(), 100)).behind.map(({ source }) => source)).toEqual(['count']);
    await run();
    forward(MINUTE);
    await run('count');
    expect((await observe(store, now(), 100)).behind.map(({ source }) => source)).toEqual(['cvr']);
  });

  it('that fails alone raises its own alert, and is retried within minutes', async () => {
    const { run, emulator, store, now, forward } = await fixtureOn(engine);
    await run();
    emulator.fault({ match: '_count$', times: 'always', action: { kind: 'status', status: 503 } });
    for (let tries = 0; tries < 12; tries++) {
      forward(15 * MINUTE);
      await run('count');
    }
    const { due_at } = await store.db
      .selectFrom('lane')
      .select('due_at')
      .where('key', '=', 'count')
      .executeTakeFirstOrThrow();
    expect((due_at ?? Number.POSITIVE_INFINITY) - now()).toBeLessThanOrEqual(6 * MINUTE);
    const thresholds = { reviewOver: 100, registerBehindMinutes: 60 };
    const told = conditionsOf(await observe(store, now(), 100), thresholds, now()).map(({ what }) => what);
    expect(told).toEqual(['cvrsync cannot count the documents of the register']);
  });
});
