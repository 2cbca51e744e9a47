/** Notes and parents by two processes, of which one stands still between its last look at the store and its call. */
import { describe, expect, test } from 'vitest';
import { checkPendingWrites } from '../../src/runtime/lanes/pending-writes.ts';
import { ENTITY, reported } from '../faults/company.ts';
import { ENGINES } from '../support/stores.ts';
import { guardedCalls } from '../support/toy-crm.ts';
import { type Fixture, newFixture } from './derived-fixture.ts';
import { CHILD, OTHER, OWNER, owned, setUp, sold } from './parents/owners.ts';

/** Longer than a lease. */
const FROZEN_MS = 40_000;

/** A record under its owner's, which is to go under another's while the first call stands still. */
async function sellsWhileFrozen(engine: (typeof ENGINES)[number], arrives: (signal: AbortSignal) => Promise<void>) {
  const fixture = await setUp({ engine });
  const records = { child: CHILD, owner: OWNER, other: OTHER };
  for (const [record, entity] of Object.entries(records)) await fixture.link(record, entity);
  await owned(fixture, CHILD, [OWNER, '100']);
  fixture.onWrite = async () => {
    fixture.onWrite = undefined;
    fixture.time += FROZEN_MS;
    await sold(fixture, CHILD, OWNER, OTHER);
    await fixture.give();
    expect(fixture.parents.get('child')).toBe('other');
    await arrives(AbortSignal.timeout(60_000));
    return undefined;
  };
  return fixture;
}

const pendingCount = async ({ store }: Fixture): Promise<number> =>
  (await store.db.selectFrom('pending_write').select('key').execute()).length;

describe.each(ENGINES)('a parent of a frozen process (%s)', (engine) => {
  test('is not sent, because the lease is checked last', async () => {
    const calls: { guarded?: Awaited<ReturnType<typeof guardedCalls>> } = {};
    const fixture = await sellsWhileFrozen(engine, async (signal) => calls.guarded?.call(signal));
    calls.guarded = await guardedCalls(fixture.store);
    await fixture.give();
    expect([fixture.parents.get('child'), calls.guarded.left]).toEqual(['other', []]);
    expect([await fixture.lanes('parent:crm'), await pendingCount(fixture)]).toEqual([[], 0]);
  });

  test('that was answered late does not make the same choice of a person ours', async () => {
    const fixture = await sellsWhileFrozen(engine, async () => {});
    await fixture.give();
    fixture.parents.set('child', 'by-hand');
    await fixture.give();
    fixture.time += 31_000;
    await fixture.store.write((tx) => checkPendingWrites(tx, fixture.time));
    await fixture.give();
    expect(await pendingCount(fixture)).toBe(0);

    fixture.parents.set('child', 'owner');
    await owned(fixture, CHILD, [OTHER, '90-100']);
    await fixture.give();
    expect(fixture.parents.get('child')).toBe('owner');
  });
});

test.each(ENGINES)('a note of a frozen process is not added twice (%s)', async (engine) => {
  const fixture = await newFixture({ engine, notes: ['status'] });
  const calls = await guardedCalls(fixture.store);
  await fixture.link('1', ENTITY);
  await fixture.report(reported({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } }, 8));
  fixture.onAdd = async () => {
    fixture.onAdd = undefined;
    fixture.time += FROZEN_MS;
    await fixture.leave();
    expect(fixture.notes.get('1')).toHaveLength(1);
    await calls.call(AbortSignal.timeout(60_000));
    return undefined;
  };
  await fixture.leave();
  expect([fixture.notes.get('1')?.length, calls.left]).toEqual([1, []]);
  expect(await fixture.lanes('note:crm')).toEqual([]);
});
