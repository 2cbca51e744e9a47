/** What a provider says is stored and shown: it is short, holds no secret, and can be read whatever was thrown. */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../../providers/provider.ts';
import { fullErrorText } from '../../../../src/protocol/text/error-text.ts';
import { fenced, live, raw } from '../sound-connection.ts';

describe('the answer check', () => {
  it('shortens the texts of a provider for people, and refuses impossible ids and cursors', async () => {
    const huge = 'x'.repeat(20_000_000);
    const cut = `${'x'.repeat(999)}…`;
    const notes = { recordId: '1', at: 0, subject: '', text: '', marker: '' };
    const connection = fenced({
      check: raw({ id: '7', name: huge, notes: [huge] }),
      properties: raw([{ name: 'name', label: huge, type: 'string', writable: true }]),
      update: raw([
        { kind: 'rejected', id: '1', reason: huge, properties: { name: huge } },
        { kind: 'retry', id: '2', reason: huge },
      ]),
      create: raw({ kind: 'rejected', reason: huge, properties: { name: huge } }),
      defineProperties: raw([{ name: 'a', kind: 'refused', reason: huge }]),
      rules: raw([{ kind: 'required', name: huge, about: huge }]),
      missingRights: raw([{ right: 'notes', reason: huge }]),
      notes: { find: raw(huge), add: raw({ kind: 'rejected', reason: huge }) },
      scan: raw({ records: [], cursor: huge }),
      read: () => Promise.reject(new ProviderError('refused', huge)),
      changes: () => Promise.reject(new TypeError(huge)),
    });
    expect(await connection.check(live())).toEqual({ id: '7', name: cut, notes: [cut] });
    expect(await connection.properties(live())).toMatchObject([{ label: cut }]);
    expect(
      await connection.update(
        ['1', '2'].map((id) => ({ id, properties: {} })),
        live(),
      ),
    ).toEqual([
      { kind: 'rejected', id: '1', reason: cut, properties: { name: cut } },
      { kind: 'retry', id: '2', reason: cut },
    ]);
    expect(await connection.create?.({}, live())).toEqual({ kind: 'rejected', reason: cut, properties: { name: cut } });
    expect(await connection.defineProperties?.([{ name: 'a', label: 'A', type: 'string' }], live())).toMatchObject([
      { reason: cut },
    ]);
    expect(await connection.rules?.(live())).toEqual([{ kind: 'required', name: cut, about: cut }]);
    expect(await connection.missingRights?.(['notes'], live())).toEqual([{ right: 'notes', reason: cut }]);
    expect(await connection.notes?.add(notes, live())).toEqual({ kind: 'rejected', reason: cut });
    await expect(connection.notes?.find('1', 'm', 0, live())).rejects.toThrow(
      /gave the text "x+…" of 20000000 characters as id: it is a text of 255 characters at most$/,
    );
    await expect(connection.scan([], undefined, live())).rejects.toThrow(
      /gave the text "x+…" of 20000000 characters as cursor: it is a text of 16384 characters at most, and absent/,
    );
    await expect(connection.read(['1'], [], live())).rejects.toMatchObject({ fault: 'refused', message: cut });
    const bug = await connection.changes?.([], undefined, live()).catch((thrown: unknown) => thrown);
    expect(bug).toMatchObject({
      message: expect.stringMatching(/^crm: its changes failed, which is a bug of the provider: x{900,}…$/),
    });
    expect(inspect(bug).length).toBeLessThan(30_000);
  });

  it("masks the secrets of the settings in a provider's texts", async () => {
    const mask = (text: string) => text.replaceAll('tok-123', '***');
    const connection = fenced(
      {
        check: () => Promise.reject(new ProviderError('auth', 'no such token: tok-123')),
        update: raw([{ kind: 'rejected', id: '1', reason: 'bad header tok-123', properties: { name: 'tok-123' } }]),
        properties: () => Promise.reject(new TypeError('cannot send tok-123')),
      },
      { mask },
    );
    await expect(connection.check(live())).rejects.toMatchObject({ fault: 'auth', message: 'no such token: ***' });
    await expect(connection.properties(live())).rejects.toThrow('bug of the provider: cannot send ***');
    expect(await connection.update([{ id: '1', properties: {} }], live())).toEqual([
      { kind: 'rejected', id: '1', reason: 'bad header ***', properties: { name: '***' } },
    ]);
  });

  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const trap = Object.defineProperties(
    new Error('x'),
    Object.fromEntries(
      ['message', 'stack', 'name', 'cause', 'fault'].map((key) => [
        key,
        {
          get: () => {
            throw new Error('trap');
          },
        },
      ]),
    ),
  );
  it.each([
    ['null', null, 'null'],
    ['a text', 'out of luck', 'out of luck'],
    ['a circle', circle, '<ref *1> { self: [Circular *1] }'],
    ['an object with a message', { code: 42, message: 'out of luck' }, 'out of luck'],
    ['an object without a prototype', Object.create(null), '[Object: null prototype] {}'],
    ['an error that throws when it is read', trap, '[object Error]'],
  ])('reports a verb that throws %s', async (_what, thrown, seen) => {
    const error = await fenced({ check: () => Promise.reject(thrown) })
      .check(live())
      .catch((each: unknown) => each);
    expect(error).toMatchObject({ message: `crm: its check failed, which is a bug of the provider: ${seen}` });
    // As a log does it.
    expect(() => inspect(error, { depth: 9, getters: true })).not.toThrow();
    expect(fullErrorText(error)).toBe(`crm: its check failed, which is a bug of the provider: ${seen}`);
  });
});
