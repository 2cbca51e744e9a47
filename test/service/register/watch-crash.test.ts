import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KyselyPlugin } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createFileSource } from '../../../src/service/register/source/file.ts';
import type { Store } from '../../../src/store/store.ts';
import { sampleDocuments } from '../../support/sample-documents.ts';
import { newFolder, newStore, newStoreUrl, opened, SUITE_ENGINES } from '../../support/stores.ts';
import { startWatcher } from './watch-child.ts';
import { life, loaded, oldCompany, START, setWatch } from './watch-fixture.ts';

const company = oldCompany(1);
const renamed = { from: '2026-05-04', is: { name: 'Nyt Navn ApS' } };

interface Failing extends Store {
  /** From now on transactions fail at their statement of that number; at 0 after their commit. */
  fail(at: number): void;
  readonly failed: number;
}

function failing(store: Store): Failing {
  let at = Number.POSITIVE_INFINITY;
  let failed = 0;
  const fail = (): never => {
    failed++;
    throw new Error('the machine stopped here');
  };
  return {
    ...store,
    get failed() {
      return failed;
    },
    fail(next) {
      at = next;
    },
    async write(work) {
      let statement = 0;
      const plugin: KyselyPlugin = {
        transformQuery({ node }) {
          statement++;
          return statement === at ? fail() : node;
        },
        transformResult: async ({ result }) => result,
      };
      const result = await store.write((tx) => work(tx.withPlugin(plugin)));
      return at === 0 ? fail() : result;
    },
  };
}

describe.each(SUITE_ENGINES)('a page that fails on %s', (engine) => {
  it('leaves nothing behind, whichever statement it fails at, and is then stored completely and once', async () => {
    const real = await newStore(engine);
    const store = failing(real);
    const fixture = await setWatch(real);
    await fixture.tell(loaded(life(company), -100));
    await fixture.run();
    const crashing = await setWatch(store, { source: () => fixture.source });
    await fixture.tell(loaded(life(company, renamed), 0), loaded(life(oldCompany(2)), 1), { Vrukendt: {} });
    const state = async () => ({
      snapshots: await real.db.selectFrom('snapshot').selectAll().execute(),
      changes: await real.db.selectFrom('change').selectAll().execute(),
      cursor: await real.db.selectFrom('kv').select('value').where('key', '=', 'cursor:file').execute(),
      aside: await real.db.selectFrom('quarantine').selectAll().execute(),
    });
    const before = await state();
    let at = 0;
    for (;;) {
      // Past the lease that the failed run still holds.
      crashing.forward(31_000);
      // The first two transactions mark and claim the lane.
      store.fail(Number.POSITIVE_INFINITY);
      at++;
      const { failed } = store;
      const ran = await crashing.run('file', () => store.fail(at)).catch((error: Error) => error.message);
      if (store.failed === failed) break;
      expect(ran).toContain('the machine stopped here');
      expect(await state()).toEqual(before);
      // The worker settles the lane of a run that threw; one that never ends would have its documents read one by one.
      await real.write((tx) => tx.updateTable('lane').set({ fence: null, lease_until: null, unended: 0 }).execute());
    }
    expect(at).toBeGreaterThan(8);
    expect(await crashing.events()).toEqual([`${company.entityId} name`]);
    await crashing.run();
    expect(await crashing.changes()).toHaveLength(1);
  });

  it('that was committed as the process died is not repeated', async () => {
    const real = await newStore(engine);
    const store = failing(real);
    const fixture = await setWatch(store);
    await fixture.tell(loaded(life(company), -100), loaded(life(company, renamed), 0));
    await expect(fixture.run('file', () => store.fail(0))).rejects.toThrow('stopped here');
    store.fail(Number.POSITIVE_INFINITY);
    fixture.forward(61_000);
    await fixture.run();
    expect(await fixture.events()).toEqual([`${company.entityId} name`]);
    expect(await fixture.counts()).toEqual({});
  });
});

describe.each(SUITE_ENGINES)('a process that is killed again and again on %s', (engine) => {
  it('reports in the end the same as one that is never killed', async () => {
    const file = join(newFolder(), 'register.ndjson');
    const documents = [...sampleDocuments(11, 60, 400, { start: START - 40_000_000 })];
    await writeFile(file, documents.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const ids = async ({ db }: Store) =>
      (await db.selectFrom('change').select('id').orderBy('seq').execute()).map(({ id }) => id);

    const calm = await setWatch(await newStore('sqlite'), { source: () => createFileSource(file, { pageSize: 7 }) });
    await calm.run();
    const expected = await ids(calm.store);
    expect(expected.length).toBeGreaterThan(300);

    const url = await newStoreUrl(engine);
    const store = await opened(url);
    let told = -1;
    for (let start = 0; told < expected.length; start++) {
      expect(start).toBeLessThan(60);
      const child = await startWatcher({ url, start: START + start * 60_000, source: { file } });
      const goal = Math.min(expected.length, Math.max(0, told) + 60);
      await expect
        .poll(async () => (await ids(store)).length, { timeout: 120_000, interval: 5 })
        .toBeGreaterThanOrEqual(goal);
      await child.kill();
      told = (await ids(store)).length;
    }
    expect(await ids(store)).toEqual(expected);
    const snapshots = async ({ db }: Store) =>
      db.selectFrom('snapshot').select(['entity', 'digest']).orderBy('entity').execute();
    expect(await snapshots(store)).toEqual(await snapshots(calm.store));
  });
});
