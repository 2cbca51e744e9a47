import { describe, expect, it } from 'vitest';
import { publish } from '../../src/service/publish/publish.ts';
import type { Store } from '../../src/store/store.ts';
import { ENGINES, newStore } from '../support/stores.ts';
import { COMPANY, changed, copies, lanes, NOW, RENAMED_AND_MOVED } from './monitored.ts';

const MANY = 10_000;

/** How many statements a transaction took. */
async function statements(store: Store, changes: Parameters<typeof publish>[1]): Promise<number> {
  let count = 0;
  await store.write((tx) => {
    const counting = tx.withPlugin({
      transformQuery: ({ node }) => {
        count++;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    return publish(counting, changes, { now: NOW });
  });
  return count;
}

describe.each(ENGINES)('publishing to many on %s', (engine) => {
  it('notifies ten thousand monitors of one change in a few statements', async () => {
    const store = await newStore(engine);
    await copies(store, MANY, (at) => (at % 10 === 0 ? 0 : 1));
    expect(await statements(store, [changed({ updates: RENAMED_AND_MOVED })])).toBeLessThan(13);
    const count = (state: 'due' | 'held') =>
      store.db
        .selectFrom('delivery')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('state', '=', state)
        .executeTakeFirstOrThrow();
    expect(Number((await count('held')).count)).toBe(1_000);
    expect(Number((await count('due')).count)).toBe(9_000);
    expect(await lanes(store, 'deliver')).toHaveLength(9_000);
  });

  it('needs no more statements for 500 changes than for one', async () => {
    const store = await newStore(engine);
    await copies(store, 4, () => 1);
    const one = await statements(store, [changed()]);
    expect(
      await statements(
        store,
        Array.from({ length: 500 }, () => changed({ entity: COMPANY })),
      ),
    ).toBe(one);
    const { count } = await store.db
      .selectFrom('delivery')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBe(501 * 4);
  });

  it('leaves nothing behind if it is interrupted during ten thousand', async () => {
    const store = await newStore(engine);
    await copies(store, MANY, (at) => (at % 10 === 0 ? 0 : 1));
    let left = 5;
    const cut = store.write((tx) => {
      const failing = tx.withPlugin({
        transformQuery: ({ node }) => {
          if (--left < 0) throw new Error('killed');
          return node;
        },
        transformResult: async ({ result }) => result,
      });
      return publish(failing, [changed()], { now: NOW });
    });
    await expect(cut).rejects.toThrow('killed');
    for (const table of ['change', 'delivery', 'lane'] as const)
      expect(await store.db.selectFrom(table).selectAll().execute()).toEqual([]);
  });
});
