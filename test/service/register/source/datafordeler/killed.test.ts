/** A process that is killed while it loads the weekly files, and while it reads the feed after them. */
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveDatafordeler } from '../../../../../src/commands/emulate/datafordeler/datafordeler.ts';
import { openClient } from '../../../../../src/http/outbound/client.ts';
import { createDatafordelerSource } from '../../../../../src/service/register/source/datafordeler/feed/datafordeler.ts';
import { createFilesSource } from '../../../../../src/service/register/source/datafordeler/files/files-source.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { newFolder, newStore, newStoreUrl, opened, SUITE_ENGINES } from '../../../../support/stores.ts';
import { everyone } from '../../daf-fixture.ts';
import { startWatcher } from '../../watch-child.ts';
import { START, setWatch } from '../../watch-fixture.ts';

const HOUR = 3_600_000;

/** What is known, what was told, and how far the feed is read. */
async function stateOf({ db }: Store) {
  const changes = await db.selectFrom('change').select(['entity', 'updates']).execute();
  const snapshots = await db.selectFrom('snapshot').select(['entity', 'digest']).orderBy('entity').execute();
  return { snapshots, changes: changes.map(({ entity, updates }) => `${entity} ${updates}`).sort() };
}

async function eventIn({ db }: Store): Promise<number> {
  const row = await db.selectFrom('kv').select('value').where('key', '=', 'cursor:datafordeler').executeTakeFirst();
  const { event = -1 }: { readonly event?: number } = JSON.parse(row?.value ?? '{}');
  return event;
}

describe.each(SUITE_ENGINES)('a process that is killed at each step on %s', (engine) => {
  it('stores and reports the same as one that is never killed', async () => {
    const emulator = await serveDatafordeler({ companies: 2, slowMs: 0, now: () => START - 48 * HOUR });
    onTestFinished(() => emulator.close());
    for (let change = 0; change < 6; change++) emulator.change(START - 24 * HOUR + change * 60_000);
    const last = emulator.tables.events.length;

    const { http, close } = openClient();
    onTestFinished(close);
    const calmStore = await newStore('sqlite');
    const calm = await setWatch(calmStore, {
      async sources(now) {
        const options = { ...emulator.settings, requestsPerSecond: 20_000, http, store: calmStore, now };
        const feed = createDatafordelerSource({ ...options, wanted: everyone, pageSize: 60 });
        return [createFilesSource(feed, { ...options, files: join(newFolder(), 'files'), pageSize: 3 })];
      },
    });
    await calm.run();
    expect(await eventIn(calm.store)).toBe(last);
    const expected = await stateOf(calm.store);
    expect(expected.changes.length).toBeGreaterThan(0);

    const url = await newStoreUrl(engine);
    const store = await opened(url);
    const files = join(newFolder(), 'files');
    const requests = () => emulator.files.asked.length + emulator.calls.length;
    let kills = 0;
    for (let goal = requests(); (await eventIn(store)) < last; kills++) {
      expect(kills).toBeLessThan(40);
      const source = { datafordeler: emulator.settings, files };
      const child = await startWatcher({ url, start: START + kills * 60_000, source });
      // In the middle of a step: while a request is answered.
      goal = Math.max(goal, requests()) + 4 + kills * 6;
      const isThere = async () => requests() >= goal || (await eventIn(store)) >= last;
      await expect.poll(isThere, { timeout: 120_000, interval: 2 }).toBe(true);
      await child.kill();
    }
    expect(kills).toBeGreaterThan(3);
    expect(await stateOf(store)).toEqual(expected);
  });
});
