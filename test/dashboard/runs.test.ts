/** The list of runs, how fast one is, and its results as a file. */
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { BACKFILL } from '../../src/connector/backfill/plan/backfill-task.ts';
import { REVIEW } from '../../src/connector/review/review-task.ts';
import { UNDO } from '../../src/connector/undo/undo-task.ts';
import { perform } from '../../src/operations/definition/operation.ts';
import { listRuns, showRun } from '../../src/operations/installation/runs.ts';
import { storeItems } from '../../src/runtime/runs/run-items.ts';
import { type RunTask, rateOf, requestPreview, type StoredRun } from '../../src/runtime/runs/runs.ts';
import type { RunTable } from '../../src/store/runtime-schema.ts';
import type { Store, Tx } from '../../src/store/store.ts';
import { SUITE_ENGINES } from '../support/stores.ts';
import { startPages } from './visitor.ts';

const NOW = 1_000_000_000_000;
const caller = { actor: { kind: 'operator', name: 'ida' }, via: 'page' } as const;

type Changed = Partial<Pick<RunTable, 'stage' | 'state' | 'done' | 'total' | 'started_at' | 'ended_at'>>;

/** A run of a task as it stands at some time. */
async function add<I>(tx: Tx, task: RunTask<I>, input: I, more: Changed = {}): Promise<number> {
  const id = await requestPreview(tx, task, { input, ...caller }, NOW);
  if (Object.keys(more).length > 0) await tx.updateTable('run').set(more).where('id', '=', id).execute();
  return id;
}

const undoIn = (store: Store, more?: Changed) => store.write((tx) => add(tx, UNDO, { since: 1 }, more));
const pathsIn = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(/href="(\/runs\/\d+)"/gu)].map(([, path = '']) => path)),
];

describe.each(SUITE_ENGINES)('the list of runs on %s', (engine) => {
  it('shows runs of every kind, newest first, with filters for kind and state, in pages', async () => {
    const { store, signedIn } = await startPages({ engine, now: () => NOW });
    const answers = { verb: 'accept', kind: 'difference' } as const;
    const ids = await store.write(async (tx) => [
      await add(tx, BACKFILL, { kind: 'scan', provider: 'hubspot', revision: 'none' }, { state: 'failed' }),
      await add(tx, REVIEW, answers, { state: 'done' }),
      await add(tx, UNDO, { since: 1 }, { state: 'cancelled', stage: 'run' }),
    ]);
    const viewer = await signedIn('viewer');
    const listed = async (query: string) => pathsIn((await viewer.get(`/runs${query}`)).text);
    const [fill, review, undo] = ids.map((id) => `/runs/${id}`);
    expect(await listed('')).toEqual([undo, review, fill]);
    expect(await listed('?task=review')).toEqual([review]);
    expect(await listed('?state=failed')).toEqual([fill]);
    expect(await listed('?task=undo&state=failed')).toEqual([]);
    // What is none of the choices chooses nothing.
    expect(await listed('?task=nonsense&state=&before=x')).toEqual([undo, review, fill]);
    const { text } = await viewer.get('/runs');
    for (const words of ['Cancelled: what was done stays done', 'Ready: nothing was written yet', 'ida'])
      expect(text).toContain(words);
    expect((await viewer.get('/runs?task=undo&state=failed')).text).toContain('No run matches.');
    for (let at = 0; at < 50; at += 1) await undoIn(store);
    const first = await viewer.get('/runs?task=undo');
    expect(pathsIn(first.text)).toHaveLength(50);
    const older = /href="(\/runs\?task=undo[^"]+)"[^>]*>/u.exec(first.text.slice(first.text.indexOf('rel="next"') - 9));
    expect(pathsIn((await viewer.get(older?.[1]?.replaceAll('&amp;', '&') ?? '')).text)).toEqual([undo]);
  });

  it('and the page of a run show speed and remaining time, also to programs', async () => {
    const { store, signedIn } = await startPages({ engine, now: () => NOW });
    const running = { state: 'running', done: 30, total: 90, started_at: NOW - 60_000 } as const;
    const id = await undoIn(store, running);
    const { text } = await (await signedIn('operator')).get(`/runs/${id}`);
    expect(text).toContain('30 of 90 records, 30 a minute, about 2 mins left');
    const ground = { store, now: () => NOW };
    const told = { id, done: 30, total: 90, perMinute: 30, secondsLeft: 120 };
    expect(await perform(listRuns, { limit: 9 }, ground, caller)).toMatchObject([told]);
    expect(await perform(showRun, { run: id }, ground, caller)).toMatchObject(told);
  });

  it('exports the results of a run to operators, with a column for each fact', async () => {
    const { store, signedIn } = await startPages({ engine, now: () => NOW });
    const id = await undoIn(store, { state: 'done' });
    const odd = {
      provider: 'hubspot',
      record: '7',
      entity: 'CVR-1-1',
      property: 'name',
      from: '=1;"x"\r\nÆ',
      to: null,
    };
    const items = Array.from({ length: 1_001 }, (_, at) => ({
      key: String(at).padStart(4, '0'),
      kind: 'restored',
      detail: JSON.stringify(at === 0 ? { ...odd, reason: ['a', 1], unknown: 'left out' } : { record: String(at) }),
    }));
    await store.write((tx) => storeItems(tx, id, items));
    const operator = await signedIn('operator');
    const file = await operator.get(`/runs/${id}/results.csv`);
    expect(file.headers['content-disposition']).toContain(`run-${id}.csv`);
    const rows: readonly (readonly string[])[] = parse(file.text, { bom: true, delimiter: ';' });
    const [head, first, ...rest] = rows;
    expect(head).toEqual(['key', 'result', 'provider', 'record', 'entity', 'property', 'from', 'to', 'reason']);
    expect(first).toEqual(['0000', 'restored', 'hubspot', '7', 'CVR-1-1', 'name', expect.anything(), '', '["a",1]']);
    // A spreadsheet must not take it for a formula.
    expect(first?.[6]).toBe(`'=1;"x" Æ`);
    expect(rest.map(([key]) => key)).toEqual(items.slice(1).map(({ key }) => key));
    const fill = await store.write((tx) => add(tx, BACKFILL, { kind: 'scan', provider: 'hubspot', revision: 'none' }));
    expect((await operator.get(`/runs/${fill}/results.csv`)).status).toBe(404);
    expect((await operator.get('/runs/999/results.csv')).status).toBe(404);
    expect((await (await signedIn('viewer')).get(`/runs/${id}/results.csv`)).status).toBe(403);
  });
});

describe('the rate of a run', () => {
  const run = (more: Partial<StoredRun<unknown>>) =>
    rateOf(
      { state: 'running', startedAt: 0, endedAt: null, done: 10, total: 40, ...more } as StoredRun<unknown>,
      60_000,
    );

  it.each([
    ['what is left', {}, { perMinute: 10, leftMs: 180_000 }],
    ['no end without a total', { total: null }, { perMinute: 10, leftMs: undefined }],
    ['no end of what has ended', { state: 'done', endedAt: 30_000 }, { perMinute: 20, leftMs: undefined }],
    ['nothing left where more was done than was counted', { done: 50 }, { perMinute: 50, leftMs: 0 }],
  ] as const)('says %s', (_, more, rate) => expect(run(more)).toEqual(rate));

  it.each([
    ['nothing is done', { done: 0 }],
    ['it has not begun', { startedAt: null }],
    ['a clock was set back', { startedAt: 90_000 }],
    ['it took less than a second', { state: 'done', startedAt: 100, endedAt: 900 }],
  ] as const)('is none where %s', (_, more) => expect(run(more)).toBeUndefined());
});
