/** Answers of a file, as the daemon looks at them and gives them. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { SAFETY_LIMIT_KEY } from '../../../src/connector/follow/safety-limit.ts';
import { readAnswerFile, requestFileAnswers } from '../../../src/connector/review/import-answers.ts';
import { resolveIfUnchanged } from '../../../src/connector/review/resolve.ts';
import { readReview } from '../../../src/connector/review/review-list.ts';
import { REVIEW, readEntries, reviewWork } from '../../../src/connector/review/review-task.ts';
import { csvText } from '../../../src/runtime/files/csv-text.ts';
import { drop, park } from '../../../src/runtime/lanes/lane-state.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { confirmRun } from '../../../src/runtime/runs/runs.ts';
import { workOnRuns } from '../../../src/runtime/runs/work.ts';
import type { Store } from '../../../src/store/store.ts';
import { newFolder, newStore, SUITE_ENGINES } from '../../support/stores.ts';

const IDA = { actor: { kind: 'operator', name: 'Ida' }, via: 'page' } as const;
const FEW = '0 links ended within an hour and 25 or more are to follow, of at most 20';
const MANY = '0 links ended within an hour and 90000 or more are to follow, of at most 9000';
const DAY_MS = 86_400_000;

const now = Date.now;

function fileOf(...rows: readonly (readonly string[])[]): string {
  const file = path.join(newFolder(), 'review.csv');
  writeFileSync(file, csvText([['id', 'about', 'reason', 'answer', 'revision'], ...rows]));
  return file;
}

async function work(store: Store): Promise<void> {
  const claims = await claim(store, REVIEW.queue, { limit: 1, now: now(), leaseMs: 30_000 });
  await workOnRuns({ store, now }, reviewWork({ store, now }), claims, new AbortController().signal);
}

/** Looks at the answers of a file; the run. */
async function lookedAt(store: Store, file: string): Promise<number> {
  const read = await readAnswerFile(file);
  if (read.kind !== 'read') throw new Error(JSON.stringify(read));
  const run = await store.write((tx) => requestFileAnswers(tx, read.rows, IDA, now()));
  await work(store);
  return run;
}

async function give(store: Store, id: number): Promise<void> {
  await store.write((tx) => confirmRun(tx, REVIEW, { id, ...IDA }, now()));
  await work(store);
}

describe.each(SUITE_ENGINES)('on %s', (engine) => {
  describe.each(['heal:hubspot', 'withheld'])('the safety limit of %s', (queue) => {
    const trip = (store: Store, error: string, at: number) =>
      store.write((tx) => park(tx, queue, SAFETY_LIMIT_KEY, { at, error }));
    const seenIn = async (store: Store) => {
      const [seen] = await readReview(store.db, now(), { kinds: ['lane'] });
      if (seen === undefined) throw new Error('nothing is parked');
      const { id, about, reason, revision = '' } = seen;
      return { id, about, reason, revision };
    };
    const isOn = async (store: Store) => (await readReview(store.db, now(), { kinds: ['lane'] })).length === 1;

    test('is not released by an answer to an earlier one, and the plan shows the current subject', async () => {
      const store = await newStore(engine);
      await trip(store, FEW, 1_000);
      const { id, about, reason, revision } = await seenIn(store);
      await store.write((tx) => drop(tx, queue, SAFETY_LIMIT_KEY));
      await trip(store, MANY, 1_000 + 5 * DAY_MS);
      const run = await lookedAt(store, fileOf([id, about, reason, 'accept', revision]));
      expect(await readEntries(store.db, run, 5)).toMatchObject([{ result: 'changed', about, reason: MANY }]);
      await give(store, run);
      expect(await isOn(store)).toBe(true);
      // As the page answers it.
      const answered = await store.write((tx) => resolveIfUnchanged(tx, 'accept', { id, revision }, now()));
      expect([answered.kind, await isOn(store)]).toEqual(['changed', true]);
    });

    test('gets a new revision if it withholds the same again', async () => {
      const store = await newStore(engine);
      await trip(store, FEW, 1_000);
      const { id, revision } = await seenIn(store);
      await store.write((tx) => drop(tx, queue, SAFETY_LIMIT_KEY));
      await trip(store, FEW, 2_000);
      expect((await store.write((tx) => resolveIfUnchanged(tx, 'accept', { id, revision }, now()))).kind).toBe(
        'changed',
      );
    });

    test('is released by its answer, which shows the text of the store, not of the file', async () => {
      const store = await newStore(engine);
      await trip(store, MANY, 1_000);
      const { id, about, revision } = await seenIn(store);
      const run = await lookedAt(store, fileOf([id, 'another', FEW, 'accept', revision]));
      expect(await readEntries(store.db, run, 5)).toMatchObject([{ result: 'planned', about, reason: MANY }]);
      expect(await isOn(store)).toBe(true);
      await give(store, run);
      expect(await isOn(store)).toBe(false);
    });

    test('accepts no answer from a file without a revision', async () => {
      const store = await newStore(engine);
      await trip(store, MANY, 1_000);
      const { id } = await seenIn(store);
      const file = fileOf([id, '', '', 'accept', '']);
      expect(await readAnswerFile(file)).toMatchObject({
        kind: 'wrong',
        problems: [{ line: 2, problem: expect.stringContaining(`the revision of ${id} is blank`) }],
      });
    });
  });

  test('failed work needs no revision in a file, and unknown ids are shown without the text of the file', async () => {
    const store = await newStore(engine);
    await store.write((tx) => park(tx, 'sync:crm', '7', { at: 1, error: 'refused' }));
    const run = await lookedAt(
      store,
      fileOf(['lane/sync:crm/7', '', '', 'retry', ''], ['lane/sync:crm/8', 'a', 'b', 'retry', '']),
    );
    expect(await readEntries(store.db, run, 5)).toMatchObject([
      { result: 'planned', about: 'sync:crm 7', reason: 'refused' },
      { result: 'settled', about: '', reason: '' },
    ]);
  });
});
