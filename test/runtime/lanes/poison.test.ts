import { expect, test } from 'vitest';
import { createInputReader, INPUT_QUEUE } from '../../../src/runtime/lanes/poison.ts';
import type { Claim } from '../../../src/runtime/lanes/settlement.ts';
import { readValue } from '../../../src/store/kv.ts';
import { ENGINES, newStore } from '../../support/stores.ts';

const suspicious: Claim = { queue: 'watch', key: 'a', fence: 1, marks: 1, attempts: 0, since: 0, unended: 1 };

test.each(ENGINES)('a suspect is read alone on %s, so that its death is its own', async (engine) => {
  const store = await newStore(engine);
  const open = (source: string) =>
    createInputReader({ store, now: () => 1, log: { warn: () => {} }, source, claims: [suspicious], async retry() {} });
  const [first, second] = [await open('one'), await open('two')];
  const begun = () => Promise.all(['one', 'two'].map((source) => readValue(store.db, `begun ${source}`)));
  const seen: unknown[] = [];
  const read = async () => void seen.push(await begun());
  await Promise.all([first.read('x', read), second.read('y', read)]);
  expect(seen).toEqual([
    ['{"x":1}', undefined],
    ['{}', '{"y":1}'],
  ]);
  expect(await begun()).toEqual(['{}', '{}']);
});

test('an input that throws did not end the process, and is read again whenever it is offered', async () => {
  const store = await newStore('sqlite');
  const inputs = await createInputReader({
    store,
    now: () => 1,
    log: { warn: () => {} },
    source: 'one',
    claims: [suspicious],
    async retry() {},
  });
  const broken = () => inputs.read('x', () => Promise.reject(new Error('broken')));
  for (let times = 0; times < 5; times++) await expect(broken()).rejects.toThrow('broken');
  expect(await store.db.selectFrom('lane').selectAll().where('queue', '=', INPUT_QUEUE).execute()).toEqual([]);
});
