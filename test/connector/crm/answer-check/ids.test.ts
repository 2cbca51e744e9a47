/** One record has one id, however its CRM spells it. */
import { describe, expect, it } from 'vitest';
import type { Connection } from '../../../../providers/provider.ts';
import { fenced, live, raw } from '../sound-connection.ts';

const found = (id: unknown, properties: unknown = { name: `of ${id}` }) => ({ kind: 'found', id, properties });

describe('the answer check of a CRM that spells one id in two ways', () => {
  /** Ids of this CRM are small letters, in whatever case they are told. */
  const form = (id: string) => (/^[a-z]$/iu.test(id) ? id.toLowerCase() : undefined);
  const spelled = (broken: Partial<Connection>) => fenced(broken, { form });

  it('recognises a record by either, and returns its canonical id', async () => {
    const connection = spelled({
      read: raw([found('A'), { kind: 'moved', id: 'b', to: 'C' }, { kind: 'moved', id: 'd', to: 'D' }]),
      update: raw([{ kind: 'written', id: 'A' }]),
      scan: raw({ records: [{ id: 'A', properties: {} }] }),
      changes: raw({ changeHints: [{ kind: 'moved', id: 'A', to: 'B' }], cursor: '1', more: false }),
      find: raw({ records: [{ id: 'A', properties: {} }], sure: true }),
      create: raw({ kind: 'created', id: 'A' }),
      parents: { read: raw([{ kind: 'found', id: 'A', parent: 'B' }]), write: raw({ kind: 'written', id: 'A' }) },
    });
    const reads = await connection.read(['a', 'b', 'd'], ['name'], live());
    expect(reads).toMatchObject([{ kind: 'found', id: 'a' }, { kind: 'moved', id: 'b', to: 'c' }, { kind: 'retry' }]);
    expect(await connection.update([{ id: 'a', properties: {} }], live())).toEqual([{ kind: 'written', id: 'a' }]);
    expect((await connection.scan([], undefined, live())).records).toMatchObject([{ id: 'a' }]);
    expect((await connection.changes?.([], undefined, live()))?.changeHints).toEqual([
      { kind: 'moved', id: 'a', to: 'b' },
    ]);
    expect((await connection.find?.('a', 'b', live()))?.records).toMatchObject([{ id: 'a' }]);
    expect(await connection.create?.({}, live())).toEqual({ kind: 'created', id: 'a' });
    expect(await connection.parents?.read(['a'], live())).toEqual([{ kind: 'found', id: 'a', parent: 'b' }]);
  });

  it('treats answers under two spellings as two answers for one record', async () => {
    const connection = spelled({ read: raw([found('a'), found('A', { name: 'another' })]) });
    expect(await connection.read(['a'], ['name'], live())).toMatchObject([
      { kind: 'retry', reason: expect.stringContaining('more than once') },
    ]);
  });

  it('stores no id that its provider refuses', async () => {
    const scan = spelled({ scan: raw({ records: [{ id: 'https://crm', properties: {} }] }) });
    await expect(scan.scan([], undefined, live())).rejects.toMatchObject({
      fault: 'unavailable',
      message: expect.stringContaining('https://crm, which its own canonicalId refuses'),
    });
  });
});
