import { describe, expect, test } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { endLink, linkRecord } from '../../../src/connector/links/links.ts';
import { ENTITY, OTHER, renamed, reported } from '../../faults/company.ts';
import { ENGINES } from '../../support/stores.ts';
import { type Fixture, type GroundOptions, newGround } from '../derived-ground.ts';

const bankrupt = reported({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } }, 8);
const dissolved = reported({ status: { before: 'UNDER KONKURS', after: 'OPLØST' } }, 9);

async function fixture(options: Partial<GroundOptions> = {}): Promise<Fixture & { readonly url: string }> {
  const made = await newGround({ engine: 'sqlite', notes: ['status'], ...options });
  await made.link('1', ENTITY);
  return made;
}

const states = async ({ store }: Fixture): Promise<readonly string[]> =>
  (await store.db.selectFrom('note').selectAll().orderBy('record_id').orderBy('seq').execute()).map(
    ({ record_id, state }) => `${record_id} ${state}`,
  );

describe.each(ENGINES)('an event that was asked for (%s)', (engine) => {
  test('leaves one note on each record of its company, and history tells of it', async () => {
    const stage = await fixture({ engine });
    await stage.link('2', ENTITY);
    await stage.link('3', OTHER);
    await stage.report(bankrupt);
    await stage.report(renamed('A ApS', 'B ApS'));
    await stage.leave();
    expect([...stage.notes]).toEqual([
      ['1', [expect.stringMatching(/^cvrsync-/u)]],
      ['2', [expect.stringMatching(/^cvrsync-/u)]],
    ]);
    expect(stage.calls).toEqual(['read 1,2', 'add 1', 'add 2']);
    expect(await states(stage)).toEqual(['1 done', '2 done']);
    expect(await stage.lanes('note:crm')).toEqual([]);
    expect(await stage.reported('1', 'note')).toEqual(['CVR: Status (note-0)']);
  });

  test('leaves no second note where it comes again, also under another id and after newer ones', async () => {
    const stage = await fixture({ engine });
    await stage.report(bankrupt);
    await stage.report(bankrupt, 'again');
    await stage.leave();
    await stage.report(dissolved);
    await stage.report(bankrupt, 'once more');
    await stage.leave();
    await stage.leave();
    expect(stage.notes.get('1')).toHaveLength(2);
    expect(await states(stage)).toEqual(['1 done', '1 done']);
  });

  test('leaves its note once where two replicas work on it', async () => {
    const stage = await fixture({ engine });
    const second = await newGround({ engine, notes: ['status'], url: stage.url });
    await stage.report(bankrupt);
    await second.report(bankrupt, 'again');
    await Promise.all([stage.leave(), second.leave(), stage.leave(), second.leave()]);
    expect([...(stage.notes.get('1') ?? []), ...(second.notes.get('1') ?? [])]).toHaveLength(1);
  });
});

describe('a note whose answer was lost', () => {
  test('is looked for before it is sent again, and not before it can have arrived', async () => {
    const stage = await fixture();
    await stage.report(bankrupt);
    stage.onAdded = () => {
      throw new ProviderError('unavailable', 'no answer came');
    };
    await stage.leave();
    stage.onAdded = undefined;
    stage.time += 5_000;
    await stage.leave();
    expect(stage.calls.filter((call) => call.startsWith('find'))).toEqual([]);
    stage.time += 10_000;
    await stage.leave();
    expect(stage.calls.slice(-2)).toEqual(['read 1', 'find 1']);
    expect(stage.notes.get('1')).toHaveLength(1);
    expect(await states(stage)).toEqual(['1 done']);
    expect(await stage.reported('1', 'note')).toEqual(['CVR: Status (note-0)']);
  });

  test('is sent again where the CRM does not have it', async () => {
    const stage = await fixture();
    await stage.report(bankrupt);
    stage.onAdd = () => {
      throw new ProviderError('unavailable', 'no answer came');
    };
    await stage.leave();
    stage.onAdd = undefined;
    stage.time += 20_000;
    await stage.leave();
    expect(stage.notes.get('1')).toHaveLength(1);
    expect(await states(stage)).toEqual(['1 done']);
  });

  test('is found where the process ended between the write in the CRM and ours', async () => {
    const stage = await fixture();
    await stage.report(bankrupt);
    stage.onAdded = () => stage.store.close();
    await expect(stage.leave()).rejects.toThrow();
    const next = await newGround({ engine: 'sqlite', notes: ['status'], url: stage.url });
    for (const [id, markers] of stage.notes) next.notes.set(id, markers);
    next.time += 31_000;
    await next.leave();
    expect(next.calls).toEqual(['read 1', 'find 1']);
    expect(next.notes.get('1')).toHaveLength(1);
    expect(await states(next)).toEqual(['1 done']);
  });

  test('is not sent by who lost the lane meanwhile', async () => {
    const stage = await fixture();
    await stage.report(bankrupt);
    const second = await newGround({ engine: 'sqlite', notes: ['status'], url: stage.url });
    const { read } = stage.crm.connection;
    Object.assign(stage.crm.connection, {
      read: async (...args: Parameters<typeof read>) => {
        second.time = stage.time + 31_000;
        await second.leave();
        return read(...args);
      },
    });
    await stage.leave();
    expect(stage.notes.size).toBe(0);
    expect(second.notes.get('1')).toHaveLength(1);
  });
});

describe('where the CRM will not have it', () => {
  test('credentials without the right to notes stop the notes alone, and are tried again', async () => {
    const stage = await fixture();
    await stage.link('2', OTHER);
    await stage.report(bankrupt);
    stage.onAdd = () => {
      throw new ProviderError('refused', 'the token lacks the scope for notes');
    };
    await stage.leave();
    expect(await stage.crm.rateLimiter.blockedUntil()).toBeUndefined();
    expect(await stage.lanes('note:crm')).toEqual(['1 the token lacks the scope for notes']);
    await stage.report(reported({ status: { before: 'NORMAL', after: 'OPLØST' } }, 8, OTHER));
    await stage.leave();
    expect(stage.calls.filter((call) => call.startsWith('add'))).toEqual(['add 1']);
    stage.onAdd = undefined;
    stage.time += 5 * 60_000;
    await stage.leave();
    expect([...stage.notes.keys()].toSorted()).toEqual(['1', '2']);
    expect(await stage.lanes('note:crm')).toEqual([]);
  });

  test('one note that is refused waits for a person, and the others are left', async () => {
    const stage = await fixture();
    await stage.report(bankrupt);
    await stage.report(dissolved);
    let count = 0;
    stage.onAdd = () => {
      count += 1;
      return count === 1 ? { kind: 'rejected', reason: 'too rude' } : undefined;
    };
    await stage.leave();
    expect(await states(stage)).toEqual(['1 due', '1 done']);
    const parked = await stage.store.db.selectFrom('lane').selectAll().where('parked_at', 'is not', null).execute();
    expect(parked).toMatchObject([{ queue: 'note:crm', key: '1', error: 'too rude' }]);
  });

  test('an account that is paused waits whole', async () => {
    const stage = await fixture();
    await stage.report(bankrupt);
    stage.onAdd = () => {
      throw new ProviderError('rate', 'too many calls', { retryAfterMs: 60_000 });
    };
    await stage.leave();
    expect(await stage.crm.rateLimiter.blockedUntil()).toMatchObject({ until: stage.time + 60_000 });
  });
});

describe('a record that is not what it was', () => {
  test('is looked at by its sync, and gets no note once it is gone', async () => {
    const stage = await fixture();
    await stage.report(bankrupt);
    stage.reads.set('1', { kind: 'gone', id: '1' });
    await stage.leave();
    expect(await stage.lanes('sync:crm')).toEqual(['1']);
    expect(await states(stage)).toEqual(['1 due']);
    const end = { provider: 'crm', recordId: '1', state: 'gone', reason: 'deleted', now: stage.time } as const;
    await stage.store.write((tx) => endLink(tx, end));
    stage.time += 60_000;
    await stage.leave();
    expect(await states(stage)).toEqual(['1 dropped']);
    expect(await stage.reported('1', 'note')).toEqual(['CVR: Status: not left, the link is gone']);
    expect(stage.notes.size).toBe(0);
  });

  test('is followed to the survivor of a merge', async () => {
    const stage = await fixture();
    await stage.report(bankrupt);
    stage.reads.set('1', { kind: 'moved', id: '1', to: '2' });
    await stage.leave();
    const now = stage.time;
    await stage.store.write((tx) =>
      linkRecord(tx, { provider: 'crm', recordId: '2', entity: ENTITY, sendUpdate: false, now }),
    );
    const end = { provider: 'crm', recordId: '1', state: 'merged', reason: 'merged into 2', now } as const;
    await stage.store.write((tx) => endLink(tx, end));
    stage.time += 60_000;
    await stage.leave();
    await stage.leave();
    expect([...stage.notes.keys()]).toEqual(['2']);
    expect(await states(stage)).toEqual(['1 dropped', '2 done']);
  });

  test('gets no note of a company that it stood for before', async () => {
    const stage = await fixture();
    await stage.report(bankrupt);
    await stage.store.write((tx) => tx.updateTable('link').set({ entity: OTHER }).execute());
    await stage.leave();
    expect(stage.notes.size).toBe(0);
    expect(await states(stage)).toEqual(['1 dropped']);
  });

  test('waits while its link is in conflict', async () => {
    const stage = await fixture();
    await stage.report(bankrupt);
    const conflict = { provider: 'crm', recordId: '1', state: 'conflict', reason: 'two companies' } as const;
    await stage.store.write((tx) => endLink(tx, { ...conflict, now: stage.time }));
    await stage.leave();
    expect(stage.calls).toEqual([]);
    expect(await states(stage)).toEqual(['1 due']);
    await stage.store.write((tx) => tx.updateTable('link').set({ state: 'active' }).execute());
    stage.time += 7 * 3_600_000;
    await stage.leave();
    expect(await states(stage)).toEqual(['1 done']);
  });
});

test('a record is told of nothing that happened before it was linked', async () => {
  const stage = await newGround({ engine: 'sqlite', notes: ['status'] });
  await stage.report(bankrupt);
  await stage.link('1', ENTITY);
  expect(await states(stage)).toEqual([]);
});

test('where no connection wants notes there is no row and no lane', async () => {
  const stage = await newGround({ engine: 'sqlite', notes: [] });
  await stage.link('1', ENTITY);
  await stage.report(bankrupt);
  expect(await states(stage)).toEqual([]);
  expect(await stage.lanes('note:crm')).toEqual([]);
});
