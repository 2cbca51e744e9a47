/** What we wrote last, by record and property. */
import { describe, expect, it } from 'vitest';
import { readWritten, rememberWritten } from '../../../src/connector/history/written.ts';
import { ENGINES, newStore } from '../../support/stores.ts';

describe.each(ENGINES)('the last written values, on %s', (engine) => {
  it('keep other properties, and blank values', async () => {
    const { db, write } = await newStore(engine);
    const remember = (at: number, values: Readonly<Record<string, string | null>>) =>
      write((tx) =>
        rememberWritten(
          tx,
          'crm',
          Object.entries(values).map(([property, value]) => ({ id: '1', property, value, at })),
        ),
      );
    await remember(1, { name: 'A ApS', city: 'By', 'na"me': 'x', __proto__: null });
    await remember(2, { name: null, kind: 'a' });
    await remember(3, { kind: 'b' });
    await write((tx) => rememberWritten(tx, 'crm', [{ id: '2', property: 'name', value: 'B', at: 3 }]));
    await write((tx) => rememberWritten(tx, 'other', [{ id: '1', property: 'name', value: 'C', at: 3 }]));
    const written = await readWritten(db, 'crm', ['1', '2', '3']);
    expect([...written.keys()].sort()).toEqual(['1', '2']);
    expect(Object.fromEntries(written.get('1') ?? [])).toEqual({
      name: { value: null, at: 2 },
      city: { value: 'By', at: 1 },
      'na"me': { value: 'x', at: 1 },
      kind: { value: 'b', at: 3 },
    });
  });

  it('include numbers, booleans, and text that not every engine stores', async () => {
    const { db, write } = await newStore(engine);
    const values = { big: 90_071_992_547_409, small: 0.1, yes: true, text: 'a\0b\ud800', quote: String.raw`\u0000"` };
    for (const at of [1, 2])
      await write((tx) =>
        rememberWritten(
          tx,
          'crm',
          Object.entries(values).map(([property, value]) => ({ id: '1', property, value, at })),
        ),
      );
    const own = (await readWritten(db, 'crm', ['1'])).get('1') ?? new Map();
    const read = Object.fromEntries([...own].map(([property, { value }]) => [property, value]));
    expect(read).toEqual({ ...values, text: 'a\ufffdb\ufffd' });
  });
});
