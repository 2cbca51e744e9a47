/** Undoes that the daemon runs for a person. */
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type PropertyValue, ProviderError } from '../../../providers/provider.ts';
import { writeHistory } from '../../../src/connector/history/history.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { countResults, readResults, UNDO, type UndoRequest, undoWork } from '../../../src/connector/undo/undo-task.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { cutoffOf, RETENTION } from '../../../src/runtime/housekeeping/retention.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { readAudit } from '../../../src/runtime/operators/audit.ts';
import {
  cancelRun,
  confirmRun,
  deleteRuns,
  findRun,
  listRuns,
  requestPreview,
} from '../../../src/runtime/runs/runs.ts';
import { workOnRuns } from '../../../src/runtime/runs/work.ts';
import { ENTITY } from '../../faults/company.ts';
import { crmOf } from '../../support/crm.ts';
import { ENGINES, newStore } from '../../support/stores.ts';
import { propertyOf } from '../property-of.ts';

const NAME = propertyOf('string', { name: 'name' });
const IDA = { actor: { kind: 'operator', name: 'Ida' }, via: 'page' } as const;
const DAY_MS = 86_400_000;
const REFUSED = 'RunRefused: the run has no preview that waits for a confirmation';

const PLANNED = {
  field: 'name',
  property: 'name',
  action: 'write',
  rule: 'ours',
  old: 'theirs',
  now: 'ours',
  seq: 1,
} as const;

/** Thirty records of which we wrote the name, in a CRM of ten records a call. */
async function fixture(
  engine: (typeof ENGINES)[number],
  {
    onRead = async () => {},
    onWrite = async () => {},
    lastWriteMs = 20_000,
  }: { onRead?: () => Promise<void>; onWrite?: (signal: AbortSignal) => Promise<void>; lastWriteMs?: number } = {},
) {
  const store = await newStore(engine);
  const ids = Array.from({ length: 30 }, (_, index) => String(index));
  const values = new Map<string, PropertyValue>(ids.map((id) => [id, 'ours']));
  await store.write(async (tx) => {
    for (const recordId of ids)
      await linkRecord(tx, { provider: 'crm', recordId, entity: ENTITY, sendUpdate: false, now: 0 });
    await tx.deleteFrom('lane').execute();
    await writeHistory(
      tx,
      ids.map((id) => ({ provider: 'crm', id, entity: ENTITY, planned: PLANNED })),
      [],
      0,
    );
  });
  const written: string[] = [];
  const crm = crmOf({
    store,
    now: Date.now,
    mapping: [],
    properties: [NAME],
    connection: {
      check: async () => ({ id: '1', name: 'x', notes: [] }),
      properties: async () => [NAME],
      async read(some) {
        await onRead();
        return some.map((id) => ({ kind: 'found', id, properties: { name: values.get(id) ?? null } }));
      },
      async update(patches, signal) {
        for (const { id, properties } of patches) {
          written.push(id);
          values.set(id, properties['name'] ?? null);
        }
        await onWrite(signal);
        return patches.map(({ id }) => ({ kind: 'written', id }));
      },
      scan: async () => ({ records: [] }),
    },
  });
  /** Runs what waits, as the daemon does. */
  const work = async (signal = new AbortController().signal): Promise<void> => {
    const claims = await claim(store, UNDO.queue, { limit: 1, now: Date.now(), leaseMs: 30_000 });
    const deps = {
      store,
      metrics: createMetrics(),
      now: Date.now,
      leaseMs: 30_000,
      lastWriteMs,
      crm: async () => crm,
    };
    await workOnRuns(deps, undoWork(deps), claims, signal);
  };
  const preview = (how: Pick<UndoRequest, 'limit' | 'hold'> = {}): Promise<number> =>
    store.write((tx) => requestPreview(tx, UNDO, { input: { since: 0, ...how }, ...IDA }, Date.now()));
  const begin = (id: number): Promise<string> =>
    store
      .write((tx) => confirmRun(tx, UNDO, { id, ...IDA }, Date.now()))
      .then(({ stage, state }) => `${stage} ${state}`, String);
  return { store, values, written, work, preview, begin };
}

describe.each(ENGINES)('an undo that the daemon runs, on %s', (engine) => {
  test('skips writes after its preview', async () => {
    const { store, values, work, preview, begin } = await fixture(engine);
    const id = await preview();
    await work();
    const later = { ...PLANNED, old: 'ours', now: 'newer', seq: 2 };
    const written = [{ provider: 'crm', id: '5', entity: ENTITY, planned: later }];
    await store.write((tx) => writeHistory(tx, written, [], Date.now() + 2));
    values.set('5', 'newer');
    expect(await begin(id)).toBe('run waiting');
    await work();
    expect([values.get('5'), values.get('6')]).toEqual(['newer', 'theirs']);
  });

  test('is previewed without a write, and then executed once even if it is requested repeatedly', async () => {
    const { store, values, written, work, preview, begin } = await fixture(engine);
    values.set('3', 'edited');
    const id = await preview();
    expect(await begin(id)).toBe(REFUSED);
    await work();
    expect(await findRun(store.db, id)).toMatchObject({
      stage: 'preview',
      state: 'done',
      done: 30,
      total: 30,
    });
    const expected = new Map([
      ['restored', 29],
      ['edited', 1],
    ]);
    expect(await countResults(store.db, id)).toEqual(expected);
    expect(written).toEqual([]);

    expect([await begin(id), await begin(id)]).toEqual(['run waiting', REFUSED]);
    await work();
    expect(await findRun(store.db, id)).toMatchObject({ stage: 'run', state: 'done', error: null });
    expect(await countResults(store.db, id)).toEqual(expected);
    expect((await readResults(store.db, id, 2)).map(({ record, kind, from, to }) => [record, kind, from, to])).toEqual([
      ['3', 'edited', 'ours', undefined],
      ['0', 'restored', 'ours', 'theirs'],
    ]);
    expect([written.length, values.get('3'), values.get('4')]).toEqual([29, 'edited', 'theirs']);
    expect(
      (await readAudit(store.db, { action: 'undo.run' }, 5)).map(({ actor, result }) => [actor.name, result]),
    ).toEqual([
      ['Ida', 'done; 29 restored, 1 edited'],
      ['Ida', 'begun for 30 records'],
    ]);
  });

  test('stops before the next records once it is cancelled', async () => {
    const made = await fixture(engine, {
      async onRead() {
        const [undo] = await listRuns(made.store.db, { task: UNDO.queue }, 1);
        if (undo?.stage === 'run' && made.written.length === 10)
          await made.store.write((tx) => cancelRun(tx, UNDO, { id: undo.id, ...IDA }, 5));
      },
    });
    const { store, written, work, preview, begin } = made;
    const id = await preview();
    await work();
    await begin(id);
    await work();
    expect(await findRun(store.db, id)).toMatchObject({ stage: 'run', state: 'cancelled', endedAt: 5 });
    expect(written.length).toBeLessThanOrEqual(20);
    expect(await store.write((tx) => cancelRun(tx, UNDO, { id, ...IDA }, 6))).toBe(false);
    expect(await begin(id)).toBe(REFUSED);
  });

  test('stops writing once it is cancelled while it waits for the CRM, and shows its writes', async () => {
    let isAsked = false;
    const made = await fixture(engine, {
      async onRead() {
        const [undo] = await listRuns(made.store.db, { task: UNDO.queue }, 1);
        if (undo?.stage !== 'run' || undo.state !== 'running' || made.written.length !== 10) return;
        const cancel = () => made.store.write((tx) => cancelRun(tx, UNDO, { id: undo.id, ...IDA }, 5));
        // During the wait that follows; if it comes later, the CRM puts the next try off, too.
        if (!isAsked) setTimeout(() => void cancel(), 50);
        isAsked = true;
        throw new ProviderError('rate', 'slow down', { retryAfterMs: 300 });
      },
    });
    const { store, written, work, preview, begin } = made;
    const id = await preview();
    await work();
    await begin(id);
    await work();
    expect([written.length, (await findRun(store.db, id))?.state]).toEqual([10, 'cancelled']);
    expect((await readResults(store.db, id, 30)).filter(({ kind }) => kind === 'restored')).toHaveLength(10);
  });

  test('resumes after its process died, and writes nothing twice', async () => {
    const stop = new AbortController();
    const made = await fixture(engine, {
      async onRead() {
        if (made.written.length === 10) stop.abort();
      },
    });
    const { store, values, written, work, preview, begin } = made;
    const id = await preview();
    await work();
    await begin(id);
    await expect(work(stop.signal)).rejects.toThrow();
    expect(written.length).toBeLessThan(30);
    await store.write((tx) => tx.updateTable('lane').set({ fence: null, lease_until: null, due_at: 0 }).execute());
    await work();
    expect(await countResults(store.db, id)).toEqual(new Map([['restored', 30]]));
    expect([written.length, new Set(written).size, new Set(values.values())]).toEqual([30, 30, new Set(['theirs'])]);
  });

  test('reads again if the CRM did not answer a write in time, and writes nothing twice', async () => {
    let calls = 0;
    const { store, values, written, work, preview, begin } = await fixture(engine, {
      lastWriteMs: 500,
      async onWrite(signal) {
        calls += 1;
        if (calls === 2) await once(signal, 'abort');
        signal.throwIfAborted();
      },
    });
    const id = await preview();
    await work();
    await begin(id);
    await work();
    expect(await findRun(store.db, id)).toMatchObject({ stage: 'run', state: 'done', error: null });
    expect(await countResults(store.db, id)).toEqual(new Map([['restored', 30]]));
    expect([written.length, new Set(written).size, new Set(values.values())]).toEqual([30, 30, new Set(['theirs'])]);
  });

  test('restores up to its limit of records in total, also over a restart, and holds them as requested', async () => {
    const stop = new AbortController();
    const made = await fixture(engine, {
      async onRead() {
        if (made.written.length === 10) stop.abort();
      },
    });
    const { store, written, work, preview, begin } = made;
    const id = await preview({ limit: 12, hold: 'forever' });
    await work();
    expect(await findRun(store.db, id)).toMatchObject({ state: 'done', done: 12, total: 30 });
    await begin(id);
    await expect(work(stop.signal)).rejects.toThrow();
    expect(written).toHaveLength(10);
    await store.write((tx) => tx.updateTable('lane').set({ fence: null, lease_until: null, due_at: 0 }).execute());
    await work();
    expect(await countResults(store.db, id)).toEqual(new Map([['restored', 12]]));
    expect(await findRun(store.db, id)).toMatchObject({ state: 'done', done: 12, total: 30 });
    const holds = await store.db.selectFrom('override').select('until').where('kind', '=', 'hold').execute();
    expect([written.length, holds.length, new Set(holds.map(({ until }) => until))]).toEqual([12, 12, new Set([null])]);
  });

  test('is deleted after 90 days, in steps', async () => {
    const { store, work, preview } = await fixture(engine);
    const id = await preview();
    await work();
    const later = Date.now() + 91 * DAY_MS;
    let steps = 0;
    while (await store.write((tx) => deleteRuns(tx, cutoffOf(later, RETENTION.runs), 10))) steps += 1;
    expect([steps, await findRun(store.db, id), await readResults(store.db, id, 1)]).toEqual([4, undefined, []]);
  });
});
