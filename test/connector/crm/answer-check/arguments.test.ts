import { describe, expect, it } from 'vitest';
import type { Outcome, Read } from '../../../../providers/provider.ts';
import { fenced, live, raw } from '../sound-connection.ts';

const found = (id: string, properties: Extract<Read, { kind: 'found' }>['properties']): Read => ({
  kind: 'found',
  id,
  properties,
});

describe('behind the answer check', () => {
  it('lets a provider change its arguments', async () => {
    const ids = ['3', '1', '2'];
    const names = ['name', 'city'];
    const patches = ids.map((id) => ({ id, properties: { name: `of ${id}` } }));
    const connection = fenced({
      read: async (own, ownNames) => {
        const answers = own.map((id) => found(id, { name: `of ${id}`, city: null }) as Read);
        (own as string[]).sort();
        (ownNames as string[]).splice(0);
        return answers;
      },
      update: async (own) => {
        const outcomes = own.map(({ id }): Outcome => ({ kind: 'written', id }));
        for (const patch of own) Object.assign(patch, { id: Number(patch.id) });
        for (const { properties } of own) Object.assign(properties, { name: 'changed' });
        (own as unknown[]).splice(0);
        return outcomes;
      },
    });
    expect(await connection.read(ids, names, live())).toEqual(
      ids.map((id) => found(id, { name: `of ${id}`, city: null })),
    );
    expect(await connection.update(patches, live())).toEqual(ids.map((id) => ({ kind: 'written', id })));
    expect([ids, names, patches]).toEqual([
      ['3', '1', '2'],
      ['name', 'city'],
      ['3', '1', '2'].map((id) => ({ id, properties: { name: `of ${id}` } })),
    ]);
  });

  it("protects the caller's values from changes by an ability", async () => {
    const wipe = (given: object) => {
      for (const key of Object.keys(given)) delete (given as Record<string, unknown>)[key];
    };
    const wiping = (answer: unknown) => async (given: object) => {
      wipe(given);
      return answer as never;
    };
    const definition = { name: 'size', label: 'Size', type: 'string' } as const;
    const note = { recordId: '1', at: 0, subject: 'a', text: 'b', marker: 'c' };
    const given = {
      names: ['name'],
      values: { name: 'A' },
      ids: ['1'],
      change: { id: '1', parent: '2', was: null },
      note,
    };
    const before = structuredClone({ ...given, definition });
    const connection = fenced({
      scan: wiping({ records: [] }),
      changes: wiping({ changeHints: [], cursor: 'a', more: false }),
      create: wiping({ kind: 'created', id: '1' }),
      defineProperties: async ([first]) => {
        wipe(first ?? {});
        return [];
      },
      notes: { find: raw('n'), add: wiping({ kind: 'written', id: 'n' }) },
      parents: {
        read: wiping([{ kind: 'found', id: '1', parent: null }]),
        write: wiping({ kind: 'written', id: '1' }),
      },
    });
    await connection.scan(given.names, undefined, live());
    await connection.changes?.(given.names, undefined, live());
    await connection.create?.(given.values, live());
    await connection.defineProperties?.([definition], live());
    await connection.notes?.add(given.note, live());
    expect(await connection.parents?.read(given.ids, live())).toHaveLength(1);
    expect(await connection.parents?.write(given.change, live())).toEqual({ kind: 'written', id: '1' });
    expect({ ...given, definition }).toEqual(before);
  });
});
