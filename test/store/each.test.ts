import { describe, expect, it } from 'vitest';
import { each } from '../../src/store/each.ts';
import { ENGINES, newStore } from '../support/stores.ts';

describe.each(ENGINES)('a list as one parameter on %s', (engine) => {
  it('finds exactly its members, whatever they look like', async () => {
    const store = await newStore(engine);
    const odd = ['', "O'Hara", '"quoted"', '{a,b}', 'null', '\\', 'Ærø & Søn', '12', '😀'];
    await store.write((tx) =>
      tx
        .insertInto('kv')
        .values([...odd, 'other'].map((key) => ({ key, value: '', updated_at: 0 })))
        .execute(),
    );
    const found = (keys: readonly string[]) =>
      store.db.selectFrom('kv').select('key').where('key', 'in', each(store.db, keys)).execute();
    expect((await found(odd)).map(({ key }) => key).sort()).toEqual([...odd].sort());
    expect(await found([])).toEqual([]);
  });
});
