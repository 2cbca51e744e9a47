/** The account above an account. */
import { describe, expect, it } from 'vitest';
import { live, openBench } from '../setup.ts';

async function openWith(options = {}) {
  const bench = await openBench(options);
  const [parent = '', child = '', third = ''] = ['A', 'B', 'C'].map((Name) => bench.emulator.add({ Name }));
  const { parents } = bench.connection;
  if (parents === undefined) throw new Error('the connection writes no parents');
  return { ...bench, parents, parent, child, third };
}

describe('parents', () => {
  it('are read in the requested order, with the outcome for records that are missing', async () => {
    const { emulator, parents, parent, child, third } = await openWith();
    emulator.edit(child, { ParentId: parent });
    const gone = emulator.add({ Name: 'D' });
    emulator.remove(gone);
    emulator.merge(child, third);
    expect(await parents.read([gone, child.slice(0, 15), parent, third], live())).toEqual([
      { kind: 'gone', id: gone },
      { kind: 'found', id: child.slice(0, 15), parent },
      { kind: 'found', id: parent, parent: null },
      { kind: 'moved', id: third, to: child },
    ]);
    expect(await parents.read([], live())).toEqual([]);
  });

  it('are set, changed and ended', async () => {
    const { emulator, parents, parent, child, third } = await openWith();
    const write = (to: string | null, was: string | null) => parents.write({ id: child, parent: to, was }, live());
    expect(await write(parent.slice(0, 15), null)).toEqual({ kind: 'written', id: child });
    expect(emulator.parent(child)).toBe(parent);
    await write(third, parent);
    expect(emulator.parent(child)).toBe(third);
    await write(null, third);
    expect(emulator.parent(child)).toBeNull();
  });

  it('are rejected by name if the parent is gone, is no account, or is below the child', async () => {
    const { emulator, parents, parent, child, third } = await openWith();
    emulator.edit(parent, { ParentId: child });
    emulator.remove(third);
    for (const [to, code] of [
      [parent, 'CIRCULAR_DEPENDENCY'],
      [third, 'INVALID_CROSS_REFERENCE_KEY'],
      ['x', 'is not the id'],
    ] as const) {
      expect(await parents.write({ id: child, parent: to, was: null }, live())).toMatchObject({
        kind: 'rejected',
        properties: { ParentId: expect.stringContaining(code) },
      });
    }
    expect(emulator.parent(child)).toBeNull();
  });

  it('wait if the account is locked, and follow if it is gone or merged', async () => {
    const { emulator, parents, parent, child, third } = await openWith();
    const write = () => parents.write({ id: child, parent, was: null }, live());
    emulator.lockRow(child, 1);
    expect((await write()).kind).toBe('retry');
    emulator.merge(third, child);
    expect(await write()).toEqual({ kind: 'moved', id: child, to: third });
    emulator.remove(third);
    expect(await write()).toEqual({ kind: 'gone', id: child });
  });

  it('are refused with advice if ParentId is hidden', async () => {
    const { parents, child } = await openWith({ hiddenFields: ['ParentId'] });
    await expect(parents.read([child], live())).rejects.toMatchObject({
      fault: 'refused',
      message: expect.stringMatching(/Parent Account/),
    });
  });

  it('are refused as a whole if the user may read ParentId but not write it', async () => {
    const { parents, parent, child } = await openWith({ fields: [{ name: 'ParentId', updateable: false }] });
    await expect(parents.write({ id: child, parent, was: null }, live())).rejects.toMatchObject({
      fault: 'refused',
      message: expect.stringMatching(/cannot be written.*Parent Account/),
    });
  });
});
