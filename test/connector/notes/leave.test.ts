import { describe, expect, test } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { endLink, linkRecord } from '../../../src/connector/links/links.ts';
import { ENTITY, OTHER, renamed, reported } from '../../faults/company.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { type Fixture, type FixtureOptions, newFixture } from '../derived-fixture.ts';

const bankrupt = reported({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } }, 8);
const dissolved = reported({ status: { before: 'UNDER KONKURS', after: 'OPLØST' } }, 9);

async function setUp(options: Partial<FixtureOptions> = {}): Promise<Fixture & { readonly url: string }> {
  const made = await newFixture({ engine: 'sqlite', notes: ['status'], ...options });
  await made.link('1', ENTITY);
  return made;
}

const states = async ({ store }: Fixture): Promise<readonly string[]> =>
  (await store.db.selectFrom('note').selectAll().orderBy('record_id').orderBy('seq').execute()).map(
    ({ record_id, state }) => `${record_id} ${state}`,
  );

describe.each(SUITE_ENGINES)('a selected event (%s)', (engine) => {
  test('adds one note to each record of its company, with an entry in history', async () => {
    const fixture = await setUp({ engine });
    await fixture.link('2', ENTITY);
    await fixture.link('3', OTHER);
    await fixture.report(bankrupt);
    await fixture.report(renamed('A ApS', 'B ApS'));
    await fixture.leave();
    expect([...fixture.notes]).toEqual([
      ['1', [expect.stringMatching(/^cvrsync-/u)]],
      ['2', [expect.stringMatching(/^cvrsync-/u)]],
    ]);
    expect(fixture.calls).toEqual(['read 1,2', 'add 1', 'add 2']);
    expect(await states(fixture)).toEqual(['1 done', '2 done']);
    expect(await fixture.lanes('note:crm')).toEqual([]);
    expect(await fixture.reported('1', 'note')).toEqual(['CVR: Status (note-0)']);
  });

  test('adds no second note if it is repeated, even under another id and after newer ones', async () => {
    const fixture = await setUp({ engine });
    await fixture.report(bankrupt);
    await fixture.report(bankrupt, 'again');
    await fixture.leave();
    await fixture.report(dissolved);
    await fixture.report(bankrupt, 'once more');
    await fixture.leave();
    await fixture.leave();
    expect(fixture.notes.get('1')).toHaveLength(2);
    expect(await states(fixture)).toEqual(['1 done', '1 done']);
  });

  test('adds its note once if two replicas work on it', async () => {
    const fixture = await setUp({ engine });
    const second = await newFixture({ engine, notes: ['status'], url: fixture.url });
    await fixture.report(bankrupt);
    await second.report(bankrupt, 'again');
    await Promise.all([fixture.leave(), second.leave(), fixture.leave(), second.leave()]);
    expect([...(fixture.notes.get('1') ?? []), ...(second.notes.get('1') ?? [])]).toHaveLength(1);
  });
});

describe('a note whose answer was lost', () => {
  test('is searched before it is sent again, but not before it can have arrived', async () => {
    const fixture = await setUp();
    await fixture.report(bankrupt);
    fixture.onAdded = () => {
      throw new ProviderError('unavailable', 'no answer came');
    };
    await fixture.leave();
    fixture.onAdded = undefined;
    fixture.time += 5_000;
    await fixture.leave();
    expect(fixture.calls.filter((call) => call.startsWith('find'))).toEqual([]);
    fixture.time += 10_000;
    await fixture.leave();
    expect(fixture.calls.slice(-2)).toEqual(['read 1', 'find 1']);
    expect(fixture.notes.get('1')).toHaveLength(1);
    expect(await states(fixture)).toEqual(['1 done']);
    expect(await fixture.reported('1', 'note')).toEqual(['CVR: Status (note-0)']);
  });

  test('is sent again if the CRM does not have it', async () => {
    const fixture = await setUp();
    await fixture.report(bankrupt);
    fixture.onAdd = () => {
      throw new ProviderError('unavailable', 'no answer came');
    };
    await fixture.leave();
    fixture.onAdd = undefined;
    fixture.time += 20_000;
    await fixture.leave();
    expect(fixture.notes.get('1')).toHaveLength(1);
    expect(await states(fixture)).toEqual(['1 done']);
  });

  test('is found if the process ended between the write in the CRM and ours', async () => {
    const fixture = await setUp();
    await fixture.report(bankrupt);
    fixture.onAdded = () => fixture.store.close();
    await expect(fixture.leave()).rejects.toThrow();
    const next = await newFixture({ engine: 'sqlite', notes: ['status'], url: fixture.url });
    for (const [id, markers] of fixture.notes) next.notes.set(id, markers);
    next.time += 31_000;
    await next.leave();
    expect(next.calls).toEqual(['read 1', 'find 1']);
    expect(next.notes.get('1')).toHaveLength(1);
    expect(await states(next)).toEqual(['1 done']);
  });

  test('is not sent by a process that lost its lane', async () => {
    const fixture = await setUp();
    await fixture.report(bankrupt);
    const second = await newFixture({ engine: 'sqlite', notes: ['status'], url: fixture.url });
    const { read } = fixture.crm.connection;
    Object.assign(fixture.crm.connection, {
      read: async (...args: Parameters<typeof read>) => {
        second.time = fixture.time + 31_000;
        await second.leave();
        return read(...args);
      },
    });
    await fixture.leave();
    expect(fixture.notes.size).toBe(0);
    expect(second.notes.get('1')).toHaveLength(1);
  });
});

describe('if the CRM refuses', () => {
  test('credentials without the right to notes stop only the notes, and are retried', async () => {
    const fixture = await setUp();
    await fixture.link('2', OTHER);
    await fixture.report(bankrupt);
    fixture.onAdd = () => {
      throw new ProviderError('refused', 'the token lacks the scope for notes');
    };
    await fixture.leave();
    expect(await fixture.crm.rateLimiter.blockedUntil()).toBeUndefined();
    expect(await fixture.lanes('note:crm')).toEqual(['1 the token lacks the scope for notes']);
    await fixture.report(reported({ status: { before: 'NORMAL', after: 'OPLØST' } }, 8, OTHER));
    await fixture.leave();
    expect(fixture.calls.filter((call) => call.startsWith('add'))).toEqual(['add 1']);
    fixture.onAdd = undefined;
    fixture.time += 5 * 60_000;
    await fixture.leave();
    expect([...fixture.notes.keys()].toSorted()).toEqual(['1', '2']);
    expect(await fixture.lanes('note:crm')).toEqual([]);
  });

  test('a refused note waits for a person, and the others are added', async () => {
    const fixture = await setUp();
    await fixture.report(bankrupt);
    await fixture.report(dissolved);
    let count = 0;
    fixture.onAdd = () => {
      count += 1;
      return count === 1 ? { kind: 'rejected', reason: 'too rude' } : undefined;
    };
    await fixture.leave();
    expect(await states(fixture)).toEqual(['1 due', '1 done']);
    const parked = await fixture.store.db.selectFrom('lane').selectAll().where('parked_at', 'is not', null).execute();
    expect(parked).toMatchObject([{ queue: 'note:crm', key: '1', error: 'too rude' }]);
  });

  test('a paused account delays all notes', async () => {
    const fixture = await setUp();
    await fixture.report(bankrupt);
    fixture.onAdd = () => {
      throw new ProviderError('rate', 'too many calls', { retryAfterMs: 60_000 });
    };
    await fixture.leave();
    expect(await fixture.crm.rateLimiter.blockedUntil()).toMatchObject({ until: fixture.time + 60_000 });
  });
});

describe('a record that changed', () => {
  test('is read by its sync, and gets no note once it is gone', async () => {
    const fixture = await setUp();
    await fixture.report(bankrupt);
    fixture.reads.set('1', { kind: 'gone', id: '1' });
    await fixture.leave();
    expect(await fixture.lanes('sync:crm')).toEqual(['1']);
    expect(await states(fixture)).toEqual(['1 due']);
    const end = { provider: 'crm', recordId: '1', state: 'gone', reason: 'deleted', now: fixture.time } as const;
    await fixture.store.write((tx) => endLink(tx, end));
    fixture.time += 60_000;
    await fixture.leave();
    expect(await states(fixture)).toEqual(['1 dropped']);
    expect(await fixture.reported('1', 'note')).toEqual(['CVR: Status: not left, the link is gone']);
    expect(fixture.notes.size).toBe(0);
  });

  test('gets its note on the survivor of a merge', async () => {
    const fixture = await setUp();
    await fixture.report(bankrupt);
    fixture.reads.set('1', { kind: 'moved', id: '1', to: '2' });
    await fixture.leave();
    const now = fixture.time;
    await fixture.store.write((tx) =>
      linkRecord(tx, { provider: 'crm', recordId: '2', entity: ENTITY, sendUpdate: false, now }),
    );
    const end = { provider: 'crm', recordId: '1', state: 'merged', reason: 'merged into 2', now } as const;
    await fixture.store.write((tx) => endLink(tx, end));
    fixture.time += 60_000;
    await fixture.leave();
    await fixture.leave();
    expect([...fixture.notes.keys()]).toEqual(['2']);
    expect(await states(fixture)).toEqual(['1 dropped', '2 done']);
  });

  test('gets no note of its former company', async () => {
    const fixture = await setUp();
    await fixture.report(bankrupt);
    await fixture.store.write((tx) => tx.updateTable('link').set({ entity: OTHER }).execute());
    await fixture.leave();
    expect(fixture.notes.size).toBe(0);
    expect(await states(fixture)).toEqual(['1 dropped']);
  });

  test('waits while its link is in conflict', async () => {
    const fixture = await setUp();
    await fixture.report(bankrupt);
    const conflict = { provider: 'crm', recordId: '1', state: 'conflict', reason: 'two companies' } as const;
    await fixture.store.write((tx) => endLink(tx, { ...conflict, now: fixture.time }));
    await fixture.leave();
    expect(fixture.calls).toEqual([]);
    expect(await states(fixture)).toEqual(['1 due']);
    await fixture.store.write((tx) => tx.updateTable('link').set({ state: 'active' }).execute());
    fixture.time += 7 * 3_600_000;
    await fixture.leave();
    expect(await states(fixture)).toEqual(['1 done']);
  });
});

test('a record gets no notes of events before its link', async () => {
  const fixture = await newFixture({ engine: 'sqlite', notes: ['status'] });
  await fixture.report(bankrupt);
  await fixture.link('1', ENTITY);
  expect(await states(fixture)).toEqual([]);
});

test('without a connection with notes, no row and no lane is stored', async () => {
  const fixture = await newFixture({ engine: 'sqlite', notes: [] });
  await fixture.link('1', ENTITY);
  await fixture.report(bankrupt);
  expect(await states(fixture)).toEqual([]);
  expect(await fixture.lanes('note:crm')).toEqual([]);
});
