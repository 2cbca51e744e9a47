/** One page of an undo, with a CRM that does as the test says. */
import { describe, expect, test } from 'vitest';
import type { Outcome, Patch, Property, PropertyValue, Read } from '../../../providers/provider.ts';
import { writeHistory } from '../../../src/connector/history/history.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { setOverride } from '../../../src/connector/overrides/override.ts';
import type { Undone } from '../../../src/connector/undo/outcome.ts';
import { undoPage } from '../../../src/connector/undo/undo.ts';
import { UNDO_HOLD_MS } from '../../../src/connector/undo/undo-record.ts';
import { undo as runUndo } from '../../../src/connector/undo/undo-run.ts';
import { createMetrics, type Metrics } from '../../../src/http/metrics.ts';
import { claimByKey } from '../../../src/runtime/lanes/claim.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENTITY } from '../../faults/company.ts';
import { crmOf } from '../../support/crm.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { guardedCalls } from '../../support/toy-crm.ts';
import { propertyOf } from '../property-of.ts';

const now = () => 1_000;
/** When a hold of an undo ends. */
const HELD = now() + UNDO_HOLD_MS;
const SCHEMA: readonly Property[] = ['name', 'phone', 'late', 'locked', 'hidden'].map((name) =>
  propertyOf('string', { name, writable: name !== 'locked' }),
);

interface Script {
  readonly read?: (id: string) => Read;
  readonly update?: (patch: Patch) => Outcome;
  /** Done while the CRM is asked to write. */
  readonly meanwhile?: () => Promise<unknown>;
  /** What happens to each write in turn before its bytes leave. */
  readonly waits?: (() => unknown)[];
  readonly clock?: { at: number };
}

/** A record 1 of which we wrote `name` and `phone`: from A to B. */
async function fixture(engine: (typeof ENGINES)[number], properties: readonly string[], script: Script = {}) {
  const store = await newStore(engine);
  await store.write(async (tx) => {
    await linkRecord(tx, { provider: 'crm', recordId: '1', entity: ENTITY, sendUpdate: false, now: now() });
    await tx.deleteFrom('lane').execute();
    const decided = properties.map((property) => ({
      provider: 'crm',
      id: '1',
      entity: ENTITY,
      planned: { field: 'name', property, action: 'write', rule: 'register', old: 'A', now: 'B', seq: 7 } as const,
    }));
    await writeHistory(tx, decided, [], now());
  });
  const held: Record<string, PropertyValue> = { name: 'B', phone: 'B', late: 'B', locked: 'B' };
  const { clock = { at: now() }, waits = [] } = script;
  const [metrics, logged]: [Metrics, string[]] = [createMetrics(), []];
  const calls = await guardedCalls(store);
  const crm = crmOf({
    store,
    now: () => clock.at,
    properties: SCHEMA,
    mapping: [],
    connection: {
      check: async () => ({ id: '1', name: 'x', notes: [] }),
      properties: async () => SCHEMA,
      read: async (ids) => ids.map((id) => script.read?.(id) ?? { kind: 'found', id, properties: { ...held } }),
      async update(patches, signal) {
        await waits.shift()?.();
        await calls.call(signal);
        await script.meanwhile?.();
        return patches.map((patch) => {
          const outcome = script.update?.(patch) ?? { kind: 'written', id: patch.id };
          if (outcome.kind === 'written') Object.assign(held, patch.properties);
          return outcome;
        });
      },
      scan: async () => ({ records: [] }),
    },
  });
  const undo = async (signal = AbortSignal.timeout(60_000)): Promise<readonly string[]> => {
    const log = { warn: (_: object, message: string) => void logged.push(message) };
    const page = await undoPage(
      { store, metrics, log, now: () => clock.at, leaseMs: 9_000 },
      { crm, ids: ['1'], selection: { event: 7 } },
      signal,
    );
    return [...page.done.map(({ property, kind }) => `${property} ${kind}`), ...page.open.map((id) => `open ${id}`)];
  };
  return { store, undo, held, metrics, logged, calls, crm };
}

const holds = async (store: Store): Promise<readonly string[]> =>
  (await store.db.selectFrom('override').selectAll().orderBy('property').execute()).map(
    ({ property, kind, until, reason, origin }) =>
      `${kind} ${property} ${until} ${origin === 'undo' ? 'undone' : reason}`,
  );

const undone = async (store: Store): Promise<number> =>
  (await store.db.selectFrom('history').select('id').where('rule', '=', 'undo').execute()).length;

describe.each(SUITE_ENGINES)('a page of an undo on %s', (engine) => {
  test('refused records are named and not held, and the rest is restored', async () => {
    const { store, undo, held } = await fixture(engine, ['name', 'phone'], {
      update: ({ id, properties }) =>
        Object.hasOwn(properties, 'phone')
          ? { kind: 'rejected', id, reason: 'no', properties: { phone: 'not like this' } }
          : { kind: 'written', id },
    });
    expect(await undo()).toEqual(['name restored', 'phone refused']);
    expect([held['name'], held['phone']]).toEqual(['A', 'B']);
    expect(await holds(store)).toEqual([`hold name ${HELD} undone`]);
  });

  test.each([
    ['rejected', { kind: 'rejected', id: '1', reason: 'a rule', properties: {} }, 'name refused'],
    ['gone', { kind: 'gone', id: '1' }, 'name gone'],
    ['moved', { kind: 'moved', id: '1', to: '2' }, 'name moved'],
    ['put off', { kind: 'retry', id: '1', reason: 'locked' }, 'name busy'],
  ] as const)('a record that is %s at the write is named, with nothing recorded', async (_, outcome, said) => {
    const { store, undo } = await fixture(engine, ['name'], { update: () => outcome });
    expect(await undo()).toEqual([said]);
    expect([await undone(store), await holds(store)]).toEqual([0, []]);
  });

  test('unreadable, read-only and missing properties are skipped', async () => {
    const { undo } = await fixture(engine, ['hidden', 'locked', 'none']);
    expect(await undo()).toEqual(['hidden unreadable', 'locked missing', 'none missing']);
  });

  test("a record that a daemon works on is skipped, and its lane keeps the daemon's claim", async () => {
    const { store, undo, held } = await fixture(engine, ['name']);
    await store.write((tx) => setOverride(tx, { provider: 'crm', recordId: '1', property: 'x' }, hold('x'), now()));
    const [mine] = await claim(store, 'sync:crm', { limit: 1, now: now(), leaseMs: 9_000 });
    expect(await undo()).toEqual(['open 1']);
    expect(held['name']).toBe('B');
    const lane = await store.db.selectFrom('lane').select('fence').executeTakeFirst();
    expect(lane?.fence).toBe(mine?.fence);
  });

  test('a run waits for a record that another process works on, even if the machine sleeps for an hour', async () => {
    const clock = { at: now() };
    const { store, crm, held, metrics } = await fixture(engine, ['name'], { clock });
    await claimByKey(store, 'sync:crm', ['1'], { now: now(), leaseMs: 24 * 3_600_000 });
    const kinds: string[] = [];
    let looks = 0;
    const report = async (done: readonly Undone[]) => {
      kinds.push(...done.map(({ kind }) => kind));
      looks += 1;
      if (looks === 1) clock.at += 3_600_000;
      if (looks === 2) await store.write((tx) => tx.deleteFrom('lane').execute());
    };
    const deps = { store, metrics, now: () => clock.at, leaseMs: 9_000, crm: async () => crm, dryRun: false, report };
    await runUndo(deps, { event: 7 }, new AbortController().signal);
    expect([kinds, held['name']]).toEqual([['restored'], 'A']);
  });

  test('a process that lost its lease while the CRM wrote records nothing, and the next run finds it done', async () => {
    const steal: { store?: Store } = {};
    const { store, undo, held } = await fixture(engine, ['name'], {
      meanwhile: async () => steal.store?.write((tx) => tx.updateTable('lane').set({ fence: 1 }).execute()),
    });
    steal.store = store;
    expect(await undo()).toEqual(['open 1']);
    expect([held['name'], await undone(store), await holds(store)]).toEqual(['A', 0, [`hold name ${HELD} undone`]]);
    await store.write((tx) => tx.updateTable('lane').set({ lease_until: 0 }).execute());
    expect(await undo()).toEqual(['name restored']);
    expect([held['name'], await undone(store), await holds(store)]).toEqual(['A', 1, [`hold name ${HELD} undone`]]);
    expect(await undo()).toEqual(['name undone']);
  });

  test('a stop during the write ends the page, and a stop before it leaves no hold behind', async () => {
    const stop = new AbortController();
    const first = await fixture(engine, ['name'], { meanwhile: async () => stop.abort() });
    expect(await first.undo(stop.signal)).toEqual(['name restored']);
    const second = await fixture(engine, ['name']);
    await expect(second.undo(stop.signal)).rejects.toThrow('abort');
    expect([second.held['name'], await holds(second.store)]).toEqual(['B', []]);
    expect(await second.undo()).toEqual(['name restored']);
  });

  test('the hold of an undo replaces a release, but not a hold of a person', async () => {
    const { store, undo } = await fixture(engine, ['name', 'phone']);
    await store.write(async (tx) => {
      const release = { kind: 'release', once: false, until: null, reason: null } as const;
      await setOverride(tx, { provider: 'crm', recordId: '1', property: 'name' }, release, now());
      await setOverride(tx, { provider: 'crm', recordId: '1', property: 'phone' }, hold('mine'), now());
    });
    expect(await undo()).toEqual(['name restored', 'phone restored']);
    expect(await holds(store)).toEqual([`hold name ${HELD} undone`, 'hold phone null mine']);
  });

  test("a hold with an end stays a person's and is extended, and does not change if nothing is restored", async () => {
    const dated = { kind: 'hold', once: false, until: 5_000, reason: 'mine' } as const;
    const { store, undo } = await fixture(engine, ['name', 'phone', 'late'], {
      update: ({ id, properties }) => {
        const bad = Object.keys(properties).filter((property) => property !== 'name');
        if (bad.length === 0) return { kind: 'written', id };
        return { kind: 'rejected', id, reason: 'no', properties: Object.fromEntries(bad.map((each) => [each, 'no'])) };
      },
    });
    await store.write(async (tx) => {
      for (const property of ['name', 'phone'])
        await setOverride(tx, { provider: 'crm', recordId: '1', property }, dated, now());
      const release = { kind: 'release', once: true, until: null, reason: null } as const;
      await setOverride(tx, { provider: 'crm', recordId: '1', property: 'late' }, release, now());
    });
    expect(await undo()).toEqual(['name restored', 'phone refused', 'late refused']);
    expect(await holds(store)).toEqual(['release late null null', `hold name ${HELD} mine`, 'hold phone 5000 mine']);
  });

  test('a parked lane is due again', async () => {
    const { store, undo } = await fixture(engine, ['name']);
    const parked = { queue: 'sync:crm', key: '1', marks: 1, since: 1, due_at: null, parked_at: 5, error: 'no' };
    await store.write((tx) =>
      tx
        .insertInto('lane')
        .values({ ...parked, attempts: 3 })
        .execute(),
    );
    expect(await undo()).toEqual(['name restored']);
    expect(await store.db.selectFrom('lane').selectAll().execute()).toMatchObject([
      { key: '1', due_at: now(), parked_at: null, fence: null },
    ]);
  });
});

const hold = (reason: string) => ({ kind: 'hold', once: false, until: null, reason }) as const;

describe.each(SUITE_ENGINES)("a person's edit between undo's read and its write (%s)", (engine) => {
  const release = { kind: 'release', once: false, until: null, reason: null } as const;

  test('is kept, named, and not held: the record is read again after 250 ms', async () => {
    const clock = { at: now() };
    const edits = () => {
      clock.at += 300;
      held['name'] = 'As a person wrote it';
    };
    const { store, undo, held, metrics } = await fixture(engine, ['name', 'phone'], { clock, waits: [edits] });
    await store.write((tx) =>
      setOverride(tx, { provider: 'crm', recordId: '1', property: 'name' }, release, now() - 1),
    );
    expect((await undo()).toSorted()).toEqual(['name edited', 'phone restored']);
    expect([held['name'], held['phone']]).toEqual(['As a person wrote it', 'A']);
    // The person's release, which had given way to the hold, counts again.
    expect(await holds(store)).toEqual(['release name null null', `hold phone ${HELD} undone`]);
    expect(await undone(store)).toBe(1);
    expect((await metrics.rereads.get()).values).toMatchObject([{ value: 1 }]);
  });

  test('costs no second read if the write left at once, and is checked each time that the write waits', async () => {
    const clock = { at: now() };
    const waiting = (ms: number) => () => {
      clock.at += ms;
    };
    const { undo, metrics } = await fixture(engine, ['name'], { clock, waits: [waiting(100)] });
    expect(await undo()).toEqual(['name restored']);
    expect((await metrics.rereads.get()).values).toEqual([]);
    const slow = await fixture(engine, ['name'], { clock, waits: [300, 300, 300].map(waiting) });
    expect(await slow.undo()).toEqual(['name restored']);
    expect((await slow.metrics.rereads.get()).values).toMatchObject([{ value: 3 }]);
  });

  test('is kept by an undo that froze beyond its lease, which sends nothing and logs it', async () => {
    const clock = { at: now() };
    const waitsLong = () => {
      clock.at += 300;
    };
    const standsStill = async () => {
      clock.at += 40_000;
      expect(await undo()).toEqual(['name restored']);
      held['name'] = 'As a person wrote it';
    };
    const waits = [waitsLong, waitsLong, standsStill];
    const { undo, held, logged, calls } = await fixture(engine, ['name'], { clock, waits });
    expect(await undo()).toEqual(['open 1']);
    expect(held['name']).toBe('As a person wrote it');
    expect(calls.left).toHaveLength(1);
    expect(logged).toEqual([expect.stringContaining('another process has its work')]);
  });

  test('that follows an interrupted undo ends the hold that it left', async () => {
    const { store, undo, held } = await fixture(engine, ['name'], {
      meanwhile: async () => store.write((tx) => tx.updateTable('lane').set({ fence: 1 }).execute()),
    });
    expect(await undo()).toEqual(['open 1']);
    held['name'] = 'As a person wrote it';
    await store.write((tx) => tx.updateTable('lane').set({ lease_until: 0 }).execute());
    expect([await undo(), await holds(store)]).toEqual([['name edited'], []]);
  });
});
