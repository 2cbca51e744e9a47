import { expect, test } from 'vitest';
import { createGroupCommit } from '../../src/runtime/group-commit.ts';

const setUp = (options: { readonly fails?: (entry: number) => boolean; readonly batchSize?: number } = {}) => {
  const batches: (readonly number[])[] = [];
  const failures: (readonly number[])[] = [];
  const commits = createGroupCommit<number, string>({
    batchSize: options.batchSize ?? 4,
    waitMs: 2,
    write: async (batch) => {
      await new Promise((resolve) => setImmediate(resolve));
      batches.push(batch);
      if (batch.some((entry) => options.fails?.(entry))) throw new Error('not this one');
      return batch.map((entry) => `stored ${entry}`);
    },
    onFailure: (_, batch) => failures.push(batch),
  });
  return { commits, batches, failures };
};

test('entries that arrive together are one batch, in their order, up to the size of a batch', async () => {
  const { commits, batches } = setUp();
  const results = await Promise.all([1, 2, 3, 4, 5, 6].map((entry) => commits.add(entry)));
  expect(results).toEqual([1, 2, 3, 4, 5, 6].map((entry) => `stored ${entry}`));
  expect(batches).toEqual([
    [1, 2, 3, 4],
    [5, 6],
  ]);
});

test('an entry that the store refuses fails alone', async () => {
  const { commits, failures } = setUp({ fails: (entry) => entry === 2 });
  const results = await Promise.allSettled([1, 2, 3].map((entry) => commits.add(entry)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(failures).toEqual([[1, 2, 3]]);
});

test('entries that exclude each other go into separate batches, and none is left behind', async () => {
  const batches: (readonly number[])[] = [];
  const commits = createGroupCommit<number, number>({
    batchSize: 10,
    waitMs: 2,
    beginBatch: () => {
      const seen = new Set<number>();
      return (entry) => !seen.has(entry % 10) && seen.add(entry % 10) !== undefined;
    },
    write: async (batch) => {
      batches.push(batch);
      return batch;
    },
  });
  await Promise.all([1, 11, 2, 21].map((entry) => commits.add(entry)));
  expect(batches).toEqual([[1, 2], [11], [21]]);
});

test('an entry that arrives while a batch is written starts the next, and settled waits for it', async () => {
  const { commits, batches } = setUp({ batchSize: 1 });
  const first = commits.add(1);
  const second = first.then(() => commits.add(2));
  await second;
  await commits.settled();
  expect(commits.waiting()).toBe(0);
  expect(batches).toEqual([[1], [2]]);
});

/** After a batch of two the next waits: so long that a test which waits for it fails. */
const setUpBurst = async (waitMs: number) => {
  const batches: (readonly number[])[] = [];
  const commits = createGroupCommit<number, number>({
    batchSize: 4,
    waitMs: 2,
    burst: { size: 2, waitMs },
    write: async (batch) => {
      batches.push(batch);
      return batch;
    },
  });
  await Promise.all([1, 2].map((entry) => commits.add(entry)));
  return { commits, batches };
};

test('in a burst a batch waits for entries of later turns', async () => {
  const { commits, batches } = await setUpBurst(100);
  const third = commits.add(3);
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(batches).toEqual([[1, 2]]);
  await Promise.all([third, commits.add(4)]);
  expect(batches).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test('a full batch does not wait in a burst', async () => {
  const { commits, batches } = await setUpBurst(3_600_000);
  await Promise.all([3, 4, 5, 6].map((entry) => commits.add(entry)));
  expect(batches).toEqual([
    [1, 2],
    [3, 4, 5, 6],
  ]);
});
