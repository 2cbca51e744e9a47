/** Answers to all that a filter finds in review, as the daemon gives them. */
import { describe, expect, test } from 'vitest';
import { SAFETY_LIMIT_KEY } from '../../../src/connector/follow/safety-limit.ts';
import { markLeft } from '../../../src/connector/links/left.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { REVIEW, type ReviewRequest, readEntries, reviewWork } from '../../../src/connector/review/review-task.ts';
import { companyEntityId } from '../../../src/protocol/entity-id.ts';
import { drop as dropLane } from '../../../src/runtime/lanes/lane-state.ts';
import { claim, mark } from '../../../src/runtime/lanes/lanes.ts';
import { readAudit } from '../../../src/runtime/operators/audit.ts';
import { countItems } from '../../../src/runtime/runs/run-items.ts';
import { cancelRun, confirmRun, findRun, requestPreview } from '../../../src/runtime/runs/runs.ts';
import { type TaskWork, workOnRuns } from '../../../src/runtime/runs/work.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENTITY } from '../../faults/company.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';

const IDA = { actor: { kind: 'operator', name: 'Ida' }, via: 'page' } as const;
const RECORDS = 450;

/** Records whose phone differs, and half of them the name, too. */
async function withDifferences(engine: (typeof ENGINES)[number]): Promise<Store> {
  const store = await newStore(engine);
  await store.write(async (tx) => {
    const ids = Array.from({ length: RECORDS }, (_, index) => String(1_000 + index));
    for (const recordId of ids)
      await linkRecord(tx, { provider: 'crm', recordId, entity: ENTITY, sendUpdate: false, now: 0 });
    const differing = ids.flatMap((id, index) => [['phone', id], ...(index % 2 === 0 ? [['name', id]] : [])]);
    const rows = differing.map(([property = '', record_id = '']) => ({ provider: 'crm', record_id, property }));
    const values = { kept: '"theirs"', offered: '"ours"', kept_at: 1 };
    await tx
      .insertInto('property_state')
      .values(rows.map((row) => ({ ...row, ...values })))
      .execute();
    await tx.deleteFrom('lane').execute();
  });
  return store;
}

const work = async (store: Store, now = Date.now, signal = new AbortController().signal): Promise<void> => {
  const claims = await claim(store, REVIEW.queue, { limit: 1, now: now(), leaseMs: 30_000 });
  await workOnRuns({ store, now }, reviewWork({ store, now }), claims, signal);
};
const planned = async (store: Store, input: ReviewRequest): Promise<number> => {
  const id = await store.write((tx) => requestPreview(tx, REVIEW, { input, ...IDA }, Date.now()));
  await work(store);
  return id;
};
const begin = (store: Store, id: number): Promise<boolean> =>
  store
    .write((tx) => confirmRun(tx, REVIEW, { id, ...IDA }, Date.now()))
    .then(
      () => true,
      () => false,
    );
const overridesIn = async (store: Store) =>
  (await store.db.selectFrom('override').select(['record_id', 'property', 'kind']).orderBy('record_id').execute())
    .length;

describe.each(SUITE_ENGINES)('an answer to all differences of a property, on %s', (engine) => {
  const PHONES = { verb: 'accept', kind: 'difference', provider: 'crm', property: 'phone' } as const;

  test('is planned without a change, then applied once to each unchanged entry', async () => {
    const store = await withDifferences(engine);
    const id = await planned(store, PHONES);
    expect(await findRun(store.db, id)).toMatchObject({ stage: 'preview', state: 'done', total: RECORDS });
    expect([...(await countItems(store.db, id))]).toEqual([['planned', RECORDS]]);
    expect(await overridesIn(store)).toBe(0);
    await store.write(async (tx) => {
      const of = (recordId: string) =>
        tx.updateTable('property_state').where('property', '=', 'phone').where('record_id', '=', recordId);
      await of('1003').set({ kept: '"edited again"' }).execute();
      await of('1004').set({ offered: '"newer"' }).execute();
      await of('1005').set({ kept: null, offered: null }).execute();
    });
    expect([await begin(store, id), await begin(store, id)]).toEqual([true, false]);
    await work(store);
    expect(await findRun(store.db, id)).toMatchObject({ stage: 'run', state: 'done', done: RECORDS });
    expect(Object.fromEntries(await countItems(store.db, id))).toEqual({ done: RECORDS - 3, changed: 2, settled: 1 });
    expect((await readEntries(store.db, id, 4)).map((entry) => `${entry.id} ${entry.result}`)).toEqual([
      'difference/crm/1003/phone changed',
      'difference/crm/1004/phone changed',
      'difference/crm/1005/phone settled',
      'difference/crm/1000/phone done',
    ]);
    const overrides = await store.db.selectFrom('override').selectAll().execute();
    expect(overrides).toHaveLength(RECORDS - 3);
    expect(new Set(overrides.map(({ property, kind, once }) => `${property} ${kind} ${once}`))).toEqual(
      new Set(['phone release 1']),
    );
    expect(
      (await readAudit(store.db, { action: 'review.accept' }, 5)).map(({ actor, result }) => [actor.name, result]),
    ).toEqual([
      ['Ida', 'done; 447 done, 2 changed, 1 settled'],
      ['Ida', 'begun for 450 entries'],
    ]);
  });

  test('stores nothing in a process that froze until another one took the run over', async () => {
    const store = await withDifferences(engine);
    const id = await planned(store, PHONES);
    await begin(store, id);
    const stored: unknown[] = [];
    const froze = await claim(store, REVIEW.queue, { limit: 1, now: Date.now(), leaseMs: 1 });
    const asleep: TaskWork<ReviewRequest> = {
      task: REVIEW,
      async work(_, { signal, step }) {
        const later = Date.now() + 60_000;
        const other = await claim(store, REVIEW.queue, { limit: 1, now: later, leaseMs: 30_000 });
        await workOnRuns(
          { store, now: Date.now },
          {
            task: REVIEW,
            async work(run, follow) {
              // The one that froze wakes while this one is at work.
              stored.push(await step({ done: 7, total: 7 }, async () => void stored.push('twice')), signal.aborted);
              stored.push((await findRun(store.db, id))?.done);
              await reviewWork({ store, now: Date.now }).work(run, follow);
            },
          },
          other,
          new AbortController().signal,
        );
      },
    };
    await workOnRuns({ store, now: Date.now }, asleep, froze, new AbortController().signal);
    expect(stored).toEqual([false, true, 0]);
    expect(await findRun(store.db, id)).toMatchObject({ state: 'done', done: RECORDS, error: null });
    expect((await readAudit(store.db, { action: 'review.accept' }, 5)).map(({ result }) => result)).toEqual([
      'done; 450 done',
      'begun for 450 entries',
    ]);
  });

  test('is impossible for links of a connection that was left meanwhile, and applied to the others', async () => {
    const store = await newStore(engine);
    await store.write(async (tx) => {
      for (const provider of ['crm', 'left'])
        await linkRecord(tx, { provider, recordId: '1', entity: ENTITY, sendUpdate: false, now: 0 });
      await tx.updateTable('link').set({ state: 'conflict' }).execute();
    });
    const id = await planned(store, { verb: 'accept', kind: 'link' });
    await store.write((tx) => markLeft(tx, 'left', { at: 1, by: 'Ida', run: 1 }));
    expect(await begin(store, id)).toBe(true);
    await work(store);
    expect(await findRun(store.db, id)).toMatchObject({ state: 'done', error: null });
    expect((await readEntries(store.db, id, 4)).map((entry) => [entry.id, entry.result, entry.note])).toEqual([
      ['link/left/1', 'impossible', expect.stringContaining('left was left at')],
      ['link/crm/1', 'done', expect.any(String)],
    ]);
    const links = await store.db.selectFrom('link').select(['provider', 'state']).orderBy('provider').execute();
    expect(links.map(({ provider, state }) => `${provider} ${state}`)).toEqual(['crm active', 'left conflict']);
  });

  /** Begins it, and ends the process amid the second step. */
  async function interrupted() {
    const store = await withDifferences(engine);
    const id = await planned(store, PHONES);
    await begin(store, id);
    const stop = new AbortController();
    let asked = 0;
    const now = () => {
      asked += 1;
      if (asked === 210) stop.abort();
      return Date.now();
    };
    const claims = await claim(store, REVIEW.queue, { limit: 1, now: Date.now(), leaseMs: 30_000 });
    const run = workOnRuns({ store, now: Date.now }, reviewWork({ store, now }), claims, stop.signal);
    await expect(run).rejects.toThrow('aborted');
    expect(await overridesIn(store)).toBe(400);
    return { store, id, later: () => Date.now() + 60_000 };
  }

  test('resumes after its process died', async () => {
    const { store, id, later } = await interrupted();
    await work(store, later);
    expect(await findRun(store.db, id)).toMatchObject({ state: 'done', done: RECORDS, total: RECORDS });
    expect(await overridesIn(store)).toBe(RECORDS);
  });

  test('stops when it is cancelled, and keeps the given answers', async () => {
    const { store, id, later } = await interrupted();
    const cancel = (at: number) => store.write((tx) => cancelRun(tx, REVIEW, { id, ...IDA }, at));
    expect([await cancel(7), await cancel(8)]).toEqual([true, false]);
    await work(store, later);
    expect(Object.fromEntries(await countItems(store.db, id))).toEqual({ done: 400, planned: 50 });
    expect(await findRun(store.db, id)).toMatchObject({ state: 'cancelled', endedAt: 7 });
    expect(await overridesIn(store)).toBe(400);
    const [last] = await readAudit(store.db, { action: 'review.accept' }, 1);
    expect(last).toMatchObject({ subject: 'all of kind difference', result: 'cancelled after 400 entries' });
  });
});

describe.each(SUITE_ENGINES)('an answer to all failed work, on %s', (engine) => {
  test('skips entries that wait for a decision, or that somebody resolved meanwhile', async () => {
    const store = await newStore(engine);
    await store.write(async (tx) => {
      await mark(tx, 'sync:crm', ['1', '2', '3'], 0);
      await mark(tx, 'heal:crm', [SAFETY_LIMIT_KEY], 0);
      await tx.updateTable('lane').set({ parked_at: 1, due_at: null, error: 'broken' }).execute();
    });
    const id = await planned(store, { verb: 'retry', kind: 'lane' });
    expect((await readEntries(store.db, id, 9)).map((entry) => entry.about)).toEqual(
      ['1', '2', '3'].map((key) => `sync:crm ${key}`),
    );
    await store.write((tx) => dropLane(tx, 'sync:crm', '2'));
    await begin(store, id);
    await work(store);
    expect(Object.fromEntries(await countItems(store.db, id))).toMatchObject({ settled: 1 });
    const left = await store.db
      .selectFrom('lane')
      .select(['queue', 'key'])
      .where('parked_at', 'is not', null)
      .execute();
    expect(left).toEqual([{ queue: 'heal:crm', key: SAFETY_LIMIT_KEY }]);
  });

  test('finds nothing without entries, and then cannot begin', async () => {
    const store = await newStore(engine);
    const id = await planned(store, { verb: 'drop', kind: 'value' });
    expect(await findRun(store.db, id)).toMatchObject({ stage: 'preview', state: 'done', total: 0 });
    expect(await readEntries(store.db, id, 9)).toEqual([]);
  });

  test.each(['accept', 'keep'] as const)(
    '%s leaves a link or a suggestion that means another company by then',
    async (verb) => {
      const store = await newStore(engine);
      const result = { position: 0, confidence: 'likely', suggested_at: 1 };
      const suggested = (company: string) => ({
        entity: companyEntityId(company),
        body: JSON.stringify({
          record: { name: 'Birk' },
          confidence: 'likely',
          candidates: [{ company, name: 'Birk ApS', findings: [] }],
        }),
      });
      await store.write(async (tx) => {
        for (const recordId of ['1', '2'])
          await linkRecord(tx, { provider: 'crm', recordId, entity: ENTITY, sendUpdate: false, now: 0 });
        await tx.updateTable('link').set({ state: 'conflict', reason: 'two' }).execute();
        for (const record_id of ['3', '4'])
          await tx
            .insertInto('match_result')
            .values({ provider: 'crm', record_id, ...suggested('10150817'), ...result })
            .execute();
      });
      const links = await planned(store, { verb, kind: 'link' });
      const matches = await planned(store, { verb, kind: 'match' });
      await store.write(async (tx) => {
        await tx.updateTable('link').set({ entity: 'CVR-1-10150833' }).where('record_id', '=', '1').execute();
        await tx.updateTable('match_result').set(suggested('10150833')).where('record_id', '=', '3').execute();
      });
      for (const id of [links, matches]) {
        await begin(store, id);
        await work(store);
        expect(Object.fromEntries(await countItems(store.db, id))).toEqual({ done: 1, changed: 1 });
      }
      expect(await store.db.selectFrom('link').select('entity').where('record_id', '=', '3').execute()).toEqual([]);
    },
  );
});
