import { describe, expect, it, onTestFinished } from 'vitest';
import { type RegisterEmulator, serveRegister } from '../../../src/commands/emulate/register.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import { claim, mark } from '../../../src/runtime/lanes/lanes.ts';
import { createCvrSource } from '../../../src/service/register/source/cvr.ts';
import type { RegisterSource } from '../../../src/service/register/source/source.ts';
import { measureRegister } from '../../../src/service/register/watch/progress.ts';
import { markWatch, registerTasks, startWatch } from '../../../src/service/register/watch/watch.ts';
import type { Store } from '../../../src/store/store.ts';
import { newStore } from '../../support/stores.ts';
import { life, loaded, oldCompany, START, setWatch, type WatchFixture } from './watch-fixture.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const company = oldCompany(1);
const renamed = { from: '2026-05-04', is: { name: 'Nyt Navn ApS' } };

interface CvrFixture extends WatchFixture {
  readonly emulator: RegisterEmulator;
  /** Makes the register answer 503, or itself again. */
  down(isDown: boolean): void;
}

/** A watcher of an emulated register with some companies, which it has seen. */
async function cvrStage(companies = 10, partial?: RegisterEmulator['partial']): Promise<CvrFixture> {
  const emulator = await serveRegister({ companies, seed: 5 });
  emulator.partial = partial;
  onTestFinished(() => emulator.close());
  const { http, close } = openClient();
  onTestFinished(close);
  const store = await newStore('sqlite');
  let isDown = false;
  const open = (now: () => number): RegisterSource =>
    createCvrSource({
      ...emulator.settings,
      pageSize: 4,
      requestsPerSecond: 2_000,
      pollMs: 30_000,
      http: async (request) => (isDown ? { status: 503, headers: {}, body: '' } : http(request)),
      store,
      now,
    });
  const fixture = await setWatch(store, { source: open });
  await fixture.run();
  return {
    ...fixture,
    emulator,
    down(next) {
      isDown = next;
    },
  };
}

const entityOf = (document: unknown): string => {
  const [, number] = /"cvrNummer":(\d+)/.exec(JSON.stringify(document)) ?? [];
  return `CVR-1-${number}`;
};

describe('the register over HTTP', () => {
  it('is loaded, then each change of companies and units is reported once', async () => {
    const { emulator, run, forward, now, changes, counts } = await cvrStage();
    expect(await changes()).toEqual([]);
    expect((await counts())['new']).toBe(emulator.documents.virksomhed.size + emulator.documents.produktionsenhed.size);
    const changed = new Set<string>();
    for (let round = 0; round < 20; round++) {
      changed.add(entityOf(emulator.change(now())));
      forward(31_000);
      await run();
    }
    const told = new Set((await changes()).map(({ entity }) => entity).filter((entity) => entity.startsWith('CVR-1-')));
    expect(told).toEqual(changed);
    const before = await changes();
    forward(MINUTE);
    await run();
    expect(await changes()).toEqual(before);
  });

  it('gives the same changes if answers are repeated and reordered, and documents hours late', async () => {
    const { emulator, run, forward, now, changes } = await cvrStage();
    emulator.disturb = (hits) => [...hits, ...hits].toReversed();
    const document = loaded(life(company), 0);
    const before = now() - 3 * HOUR;
    emulator.put(document, before);
    emulator.put(document, now());
    forward(31_000);
    await run();
    emulator.put(loaded(life(company, renamed), 0), now());
    forward(31_000);
    await run();
    // The version before comes back, with the time it was loaded at.
    emulator.put(document, before);
    forward(25 * HOUR);
    await run();
    const told = (await changes()).filter(({ entity }) => entity === company.entityId);
    expect(told.map(({ updates }) => updates)).toEqual([{ name: { before: company.name, after: 'Nyt Navn ApS' } }]);
  });

  it('can be down for hours: it is called less and less often, never given up, and nothing is missed', async () => {
    const { emulator, down, run, forward, now, changes, warnings, store, deps, source } = await cvrStage();
    down(true);
    const before = warnings.length;
    const changed = new Set<string>();
    for (const end = now() + 10 * HOUR; now() < end; ) {
      await run();
      const { due_at } = await store.db
        .selectFrom('lane')
        .selectAll()
        .where('key', '=', 'cvr')
        .executeTakeFirstOrThrow();
      expect(due_at).not.toBeNull();
      // The lane keeps its time however often it is marked.
      forward(Math.max(1_000, (due_at ?? 0) - now()));
      if (changed.size < 8) changed.add(entityOf(emulator.change(now())));
    }
    const tries = warnings.length - before;
    expect(tries).toBeGreaterThan(100);
    expect(tries).toBeLessThan(10 * 12 + 30);
    const lag = async () => {
      await measureRegister(store.db, [source], deps.metrics, now());
      return (await deps.metrics.registerLagSeconds.get()).values[0]?.value;
    };
    expect(await lag()).toBeGreaterThan(9 * 3_600);
    down(false);
    forward(10 * MINUTE);
    await run();
    expect(new Set((await changes()).map(({ entity }) => entity).filter((id) => id.startsWith('CVR-1-')))).toEqual(
      changed,
    );
    expect(await lag()).toBe(0);
  });
});

describe('answers that lack documents', () => {
  it.each(['shard', 'early'] as const)(
    '(%s) are an outage: the first load continues once they are complete',
    async (how) => {
      const { emulator, run, forward, counts, warnings, store } = await cvrStage(120, how);
      expect(await counts()).toEqual({});
      expect(warnings).toContain('the register cannot be read now: trying again');
      const lane = await store.db.selectFrom('lane').select('error').where('key', '=', 'cvr').executeTakeFirstOrThrow();
      expect(lane.error).toContain('part');
      emulator.partial = undefined;
      forward(10 * MINUTE);
      await run();
      const rows = await store.db.selectFrom('snapshot').select('entity').execute();
      const companies = rows.filter(({ entity }) => entity.startsWith('CVR-1-'));
      expect(companies).toHaveLength(120);
    },
  );
});

describe('other work', () => {
  it('that took the lane meanwhile stops the page from being stored', async () => {
    const store = await newStore('sqlite');
    const fixture = await setWatch(store);
    await fixture.tell(loaded(life(company), -100));
    const tasks = registerTasks(fixture.deps, [{ source: fixture.source, pollMs: MINUTE }]);
    await store.write((tx) => markWatch(tx, tasks, START));
    const [mine] = await claim(store, 'watch', { limit: 1, now: START, leaseMs: 1, keys: ['file'] });
    const [theirs] = await claim(store, 'watch', { limit: 1, now: START + 10, leaseMs: HOUR, keys: ['file'] });
    if (mine === undefined || theirs === undefined) throw new Error('no claims');
    await expect(tasks['file']?.(mine, new AbortController().signal)).rejects.toMatchObject({ name: 'LeaseLost' });
    expect(await store.db.selectFrom('snapshot').selectAll().execute()).toEqual([]);
    await tasks['file']?.(theirs, new AbortController().signal);
    expect(await store.db.selectFrom('snapshot').selectAll().execute()).toHaveLength(1);
  });

  it('that stored a snapshot of the page meanwhile causes a new comparison', async () => {
    const store = await newStore('sqlite');
    let meanwhile: (() => Promise<void>) | undefined;
    const between: Store = {
      ...store,
      async write(work) {
        const others = meanwhile;
        meanwhile = undefined;
        await others?.();
        return store.write(work);
      },
    };
    const fixture = await setWatch(between);
    await fixture.tell(loaded(life(company), -100));
    await fixture.run();
    await fixture.tell(loaded(life(company, renamed), 0));
    const other = await setWatch(store);
    await other.tell(loaded(life(company, { from: '2026-05-04', is: { website: 'www.andre.example' } }), -50));
    await fixture.run('file', () => {
      meanwhile = async () => {
        await store.write((tx) => tx.deleteFrom('kv').where('key', '=', 'cursor:file').execute());
        await store.write((tx) => mark(tx, 'watch', ['elsewhere'], START));
        const [held] = await claim(store, 'watch', { limit: 1, now: START, leaseMs: HOUR, keys: ['elsewhere'] });
        if (held === undefined) throw new Error('no claim');
        const task = registerTasks(other.deps, [{ source: other.source, pollMs: MINUTE }])['file'];
        await task?.(held, new AbortController().signal);
      };
    });
    const updates = (await fixture.changes()).map(({ updates }) => updates);
    expect(updates).toEqual([
      { website: { before: company.website, after: 'www.andre.example' } },
      {
        name: { before: company.name, after: 'Nyt Navn ApS' },
        website: { before: 'www.andre.example', after: company.website },
      },
    ]);
  });

  it('gets the thread between documents: a page does not delay webhooks', async () => {
    const fixture = await setWatch(await newStore('sqlite'));
    await fixture.tell(...Array.from({ length: 400 }, (_, seed) => loaded(life(oldCompany(1_000 + seed)), seed)));
    let turns = 0;
    let isOver = false;
    const others = (): void => {
      turns++;
      if (!isOver) setImmediate(others);
    };
    others();
    const before = turns;
    expect(await fixture.run()).toBe(1);
    isOver = true;
    expect(turns - before).toBeGreaterThan(4);
  });
});

describe('the worker', () => {
  it('runs every task by its lane, and ends a lane that has none', async () => {
    const store = await newStore('sqlite');
    const fixture = await setWatch(store, { now: Date.now });
    const documents = [loaded(life(company), -100), loaded(life(company, renamed), 0)];
    await fixture.tell(...documents);
    const tasks = registerTasks(fixture.deps, [{ source: fixture.source, pollMs: HOUR }]);
    await store.write((tx) => mark(tx, 'watch', [...Object.keys(tasks), 'of-another-version'], Date.now()));
    const worker = startWatch(fixture.deps, tasks);
    onTestFinished(() => worker.stop(1_000));
    await worker.drained();
    expect(await fixture.events()).toContain(`${company.entityId} name`);
    const lanes = await store.db.selectFrom('lane').select('key').where('queue', '=', 'watch').orderBy('key').execute();
    expect(lanes.map(({ key }) => key)).toEqual(['ahead', 'file']);
  });
});
