import { describe, expect, it } from 'vitest';
import { type Connection, ProviderError } from '../../../providers/provider.ts';
import { LONGEST_TEXT } from '../../../src/protocol/shape.ts';
import { fenced, live, raw } from './sound-connection.ts';

const never = () => new Promise<never>(() => {});
const reading = (answer: unknown) => fenced({ read: raw(answer) }).read(['1', '2', '3'], ['name'], live());
const writing = (answer: unknown) =>
  fenced({ update: raw(answer) }).update(
    ['1', '2', '3'].map((id) => ({ id, properties: { name: 'x' } })),
    live(),
  );
const found = (id: unknown, properties: unknown = { name: `of ${id}` }) => ({ kind: 'found', id, properties });
const retry = (id: string, reason: string) => ({ kind: 'retry', id, reason: `crm: ${reason}` });
/** A list that skips a member, as one that was filled by index. */
const HOLEY = new Array(1);
const SILENT = 'the provider did not answer for this record';

describe('the answer check', () => {
  it('accepts a sound provider', async () => {
    const connection = fenced({});
    expect(await connection.check(live())).toEqual({ id: '7', name: 'Seven', notes: [] });
    expect(await connection.read(['2', '1'], ['name'], live())).toEqual([found('2'), found('1')]);
    expect(
      await writing([
        { kind: 'written', id: '1' },
        { kind: 'gone', id: '2' },
        { kind: 'moved', id: '3', to: '1' },
      ]),
    ).toEqual([
      { kind: 'written', id: '1' },
      { kind: 'gone', id: '2' },
      { kind: 'moved', id: '3', to: '1' },
    ]);
    expect(connection.create).toBeUndefined();
  });

  it('gives each record its own answer if the order is wrong', async () => {
    expect(await reading([found('3'), found('1'), found('2')])).toEqual([found('1'), found('2'), found('3')]);
    const outcomes = await writing([
      { kind: 'gone', id: '2' },
      { kind: 'written', id: '3' },
      { kind: 'written', id: '1' },
    ]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['written', 'gone', 'written']);
  });

  it('names the provider and the verb if reading an answer throws', async () => {
    const trap = {
      id: '1',
      get kind() {
        throw new Error('boom');
      },
    };
    await expect(reading([trap])).rejects.toMatchObject({
      fault: 'unavailable',
      message: 'crm: its read gave an answer that throws when it is read: boom',
    });
  });

  it('treats an omitted record as not done', async () => {
    expect(await writing([{ kind: 'written', id: '1' }])).toEqual([
      { kind: 'written', id: '1' },
      retry('2', SILENT),
      retry('3', SILENT),
    ]);
    expect(await writing([])).toHaveLength(3);
  });

  it.each([
    ['answers for another record', found('9'), SILENT],
    ['answers twice', undefined, 'the provider answered for this record more than once'],
    [
      'gives a value that is none',
      found('2', { name: { first: 'x' } }),
      'the provider answered for this record with an object as properties.name: it is a text of 131072 characters at most, a finite number, true, false or null',
    ],
    [
      'gives a number that is none',
      found('2', { name: Number.NaN }),
      'the provider answered for this record with the number NaN as properties.name: it is a text of 131072 characters at most, a finite number, true, false or null',
    ],
    [
      'gives a text that no CRM keeps',
      found('2', { name: 'x'.repeat(LONGEST_TEXT + 1) }),
      `the provider answered for this record with the text "${'x'.repeat(60)}…" of 131073 characters as properties.name: it is a text of 131072 characters at most, a finite number, true, false or null`,
    ],
    [
      'gives no properties',
      { kind: 'found', id: '2' },
      'the provider answered for this record with nothing as properties: they are an object of values by name',
    ],
    [
      'gives a Map of properties',
      found('2', new Map([['name', 'x']])),
      'the provider answered for this record with a Map as properties: they are an object of values by name',
    ],
    [
      'gives a Date',
      found('2', { name: new Date(0) }),
      'the provider answered for this record with a Date (a date is a text such as 2026-03-01) as properties.name: it is a text of 131072 characters at most, a finite number, true, false or null',
    ],
    ['has numbers as ids', found(2), 'the provider gave the number 2 as the id of this record: an id is a text'],
    [
      'forgets to await',
      Promise.resolve(found('2')),
      `${SILENT}; one of its answers has nothing as its id: each is an object whose id is a text`,
    ],
    [
      'moves a record to a number',
      { kind: 'moved', id: '2', to: 5 },
      'the provider answered for this record with the number 5 as to: it is a text of 255 characters at most',
    ],
    [
      'says what nobody knows',
      { kind: 'perhaps', id: '2' },
      'the provider answered for this record with the text "perhaps" as kind: it is found, moved, gone or retry',
    ],
    [
      'moves a record to itself',
      { kind: 'moved', id: '2', to: '2' },
      'the provider answered for this record with a move to the text "2": "to" is another record, the survivor of a merge',
    ],
    ['gives nothing at all', null, `${SILENT}; one of its answers is null: each is an object whose id is a text`],
  ])('holds back only the record where a provider %s', async (_what, second, reason) => {
    const answer =
      second === undefined ? [found('1'), found('2'), found('2', {}), found('3')] : [found('1'), second, found('3')];
    expect(await reading(answer)).toEqual([found('1'), retry('2', reason), found('3')]);
  });

  it('drops properties that were not requested, and keeps absent ones absent', async () => {
    const [first] = await reading([
      found('1', { name: 'A', secret: 'x' }),
      found('2', { name: undefined }),
      found('3', {}),
    ]);
    expect(first).toEqual(found('1', { name: 'A' }));
    expect((await reading([found('2', { name: undefined })]))[1]).toEqual(found('2', {}));
  });

  it.each([
    ['read', () => reading('all well'), 'the text "all well" in place of a list'],
    ['update', () => writing(undefined), 'nothing in place of a list'],
    [
      'scan',
      () => fenced({ scan: raw((async function* () {})()) }).scan([], undefined, live()),
      'a generator (return the answer, do not yield it) in place of a page',
    ],
    [
      'scan',
      () => fenced({ scan: raw({ records: [{ id: 7, properties: {} }] }) }).scan([], undefined, live()),
      'a record with the number 7 as id: it is a text of 255 characters at most',
    ],
    [
      'scan',
      () => fenced({ scan: raw({ records: [found('7', { name: [] })] }) }).scan([], undefined, live()),
      'the record 7 with a list as properties.name: it is a text of 131072 characters at most, a finite number, true, false or null',
    ],
    [
      'scan',
      () => fenced({ scan: raw({ records: [], cursor: 5 }) }).scan([], undefined, live()),
      'the number 5 as cursor: it is a text of 16384 characters at most, and absent on the last page',
    ],
    [
      'scan',
      () => fenced({ scan: raw({ records: HOLEY }) }).scan([], undefined, live()),
      'nothing as a record: it is an object with an id and properties',
    ],
    [
      'properties',
      () => fenced({ properties: raw(HOLEY) }).properties(live()),
      'nothing as a property: it is an object',
    ],
    [
      'find',
      () => fenced({ find: raw({ records: HOLEY }) }).find?.('a', 'b', live()),
      'nothing as a record: it is an object with an id and properties',
    ],
    [
      'changes',
      () => fenced({ changes: raw({ changeHints: HOLEY, cursor: 'a' }) }).changes?.([], undefined, live()),
      'nothing as a change: it is an object with an id',
    ],
    [
      'properties',
      () => fenced({ properties: raw([{ name: 'title', type: 'string' }]) }).properties(live()),
      'the property title with nothing as writable: it is true or false',
    ],
  ])('names what %s gave in place of what it should', async (verb, work, seen) => {
    await expect(work()).rejects.toMatchObject({ fault: 'unavailable', message: `crm: its ${verb} gave ${seen}` });
  });

  it('explains an invalid account id', async () => {
    await expect(fenced({ check: raw({ id: 77 }) }).check(live())).rejects.toThrow(
      'crm: its check gave the number 77 as id: it is a text of 255 characters at most',
    );
  });

  it('treats missing notes of an account as an empty list', async () => {
    expect((await fenced({ check: raw({ id: '7', notes: HOLEY }) }).check(live())).notes).toEqual(['nothing']);
  });

  it('ends a scan whose cursor repeats', async () => {
    const connection = fenced({ scan: raw({ records: [], cursor: 'a' }) });
    expect((await connection.scan([], undefined, live())).cursor).toBe('a');
    await expect(connection.scan([], 'a', live())).rejects.toMatchObject({ fault: 'refused' });
  });

  it('gives up a verb that hangs, and ends its calls', async () => {
    let seen: AbortSignal | undefined;
    const connection = fenced(
      {
        read: (_ids, _names, signal) => {
          seen = signal;
          return never();
        },
      },
      { verbMs: 20 },
    );
    await expect(connection.read(['1'], [], live())).rejects.toMatchObject({
      fault: 'unavailable',
      message: 'crm: its read did not end within 0.02 s',
    });
    expect(seen?.aborted).toBe(true);
  });

  it('stops with the reason of the signal, even if the provider ignores it', async () => {
    const stop = new AbortController();
    const reason = new Error('stopping');
    const work = fenced({ read: never }, { stopMs: 10 }).read(['1'], [], stop.signal);
    stop.abort(reason);
    await expect(work).rejects.toBe(reason);
    await expect(fenced({}).read(['1'], [], stop.signal)).rejects.toBe(reason);
  });

  it('accepts the last answer of a verb that stops in time', async () => {
    const stop = new AbortController();
    const update: Connection['update'] = (patches, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(patches.map(({ id }) => ({ kind: 'written', id }))));
      });
    const work = fenced({ update }).update([{ id: '1', properties: {} }], stop.signal);
    stop.abort(new Error('stopping'));
    expect(await work).toEqual([{ kind: 'written', id: '1' }]);
  });

  it('recognises faults of another copy of this package, and limits their wait to a day', async () => {
    const theirs = Object.assign(new Error('too many calls'), {
      name: 'ProviderError',
      fault: 'rate',
      retryAfterMs: 3_000,
    });
    const error = await fenced({ check: () => Promise.reject(theirs) })
      .check(live())
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ fault: 'rate', message: 'too many calls', retryAfterMs: 3_000 });
    const long = new ProviderError('locked', 'for ever', { retryAfterMs: Number.POSITIVE_INFINITY });
    const capped = await fenced({ check: () => Promise.reject(long) })
      .check(live())
      .catch((thrown: unknown) => thrown);
    expect(capped).toMatchObject({ fault: 'locked', retryAfterMs: undefined });
  });

  it.each([
    [
      'at once',
      () => {
        throw new TypeError('x is undefined');
      },
    ],
    ['later', () => Promise.reject(new TypeError('x is undefined'))],
  ])('says whose bug it is that throws %s', async (_when, check) => {
    await expect(fenced({ check }).check(live())).rejects.toThrow(
      'crm: its check failed, which is a bug of the provider: x is undefined',
    );
  });

  it('guards the abilities too', async () => {
    const connection = fenced({
      create: raw({ kind: 'created' }),
      find: raw({ records: [{ properties: {} }] }),
      changes: raw({ changeHints: [], more: false }),
      defineProperties: raw([]),
      notes: { find: raw(7), add: raw({ kind: 'written' }) },
      parents: { read: raw([]), write: raw({ kind: 'written', id: 'another' }) },
    });
    const nonsense = (work: Promise<unknown> | undefined) =>
      expect(work).rejects.toMatchObject({ fault: 'unavailable', message: expect.stringMatching(/^crm: /) });
    await nonsense(connection.create?.({}, live()));
    await nonsense(connection.find?.('a', 'b', live()));
    await nonsense(connection.changes?.([], undefined, live()));
    await nonsense(connection.notes?.find('1', 'm', 0, live()));
    await nonsense(connection.notes?.add({ recordId: '1', at: 0, subject: '', text: '', marker: '' }, live()));
    await nonsense(connection.parents?.read(['1'], live()));
    expect(await connection.parents?.write({ id: '1', parent: null, was: null }, live())).toEqual(retry('1', SILENT));
    expect(await connection.defineProperties?.([{ name: 'a', label: 'A', type: 'string' }], live())).toEqual([
      { name: 'a', kind: 'refused', reason: 'the provider did not answer for it' },
    ]);
  });
});
