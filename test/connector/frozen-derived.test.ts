/** Notes and parents by two processes, of which one stands still between its last look at the store and its call. */
import { describe, expect, test } from 'vitest';
import { checkPendingWrites } from '../../src/runtime/lanes/pending-writes.ts';
import { ENTITY, reported } from '../faults/company.ts';
import { ENGINES } from '../support/stores.ts';
import { guardedCalls } from '../support/toy-crm.ts';
import { type Fixture, newGround } from './derived-ground.ts';
import { CHILD, fixture, OTHER, OWNER, owned, sold } from './parents/owners.ts';

/** Longer than a lease. */
const FROZEN_MS = 40_000;

/** A record under its owner's, which is to go under another's while the first call stands still. */
async function sellsWhileFrozen(engine: (typeof ENGINES)[number], arrives: (signal: AbortSignal) => Promise<void>) {
  const stage = await fixture({ engine });
  const records = { child: CHILD, owner: OWNER, other: OTHER };
  for (const [record, entity] of Object.entries(records)) await stage.link(record, entity);
  await owned(stage, CHILD, [OWNER, '100']);
  stage.onWrite = async () => {
    stage.onWrite = undefined;
    stage.time += FROZEN_MS;
    await sold(stage, CHILD, OWNER, OTHER);
    await stage.give();
    expect(stage.parents.get('child')).toBe('other');
    await arrives(AbortSignal.timeout(9_000));
    return undefined;
  };
  return stage;
}

const pendingCount = async ({ store }: Fixture): Promise<number> =>
  (await store.db.selectFrom('pending_write').select('key').execute()).length;

describe.each(ENGINES)('a parent by a process that stood still (%s)', (engine) => {
  test('is not sent: the lease is asked for as the last thing', async () => {
    const calls: { guarded?: Awaited<ReturnType<typeof guardedCalls>> } = {};
    const stage = await sellsWhileFrozen(engine, async (signal) => calls.guarded?.call(signal));
    calls.guarded = await guardedCalls(stage.store);
    await stage.give();
    expect([stage.parents.get('child'), calls.guarded.left]).toEqual(['other', []]);
    expect([await stage.lanes('parent:crm'), await pendingCount(stage)]).toEqual([[], 0]);
  });

  test('that was answered late is no reason to take the same choice for ours later', async () => {
    const stage = await sellsWhileFrozen(engine, async () => {});
    await stage.give();
    stage.parents.set('child', 'by-hand');
    await stage.give();
    stage.time += 31_000;
    await stage.store.write((tx) => checkPendingWrites(tx, stage.time));
    await stage.give();
    expect(await pendingCount(stage)).toBe(0);

    stage.parents.set('child', 'owner');
    await owned(stage, CHILD, [OTHER, '90-100']);
    await stage.give();
    expect(stage.parents.get('child')).toBe('owner');
  });
});

test.each(ENGINES)('a note by a process that stood still is not left a second time (%s)', async (engine) => {
  const stage = await newGround({ engine, notes: ['status'] });
  const calls = await guardedCalls(stage.store);
  await stage.link('1', ENTITY);
  await stage.report(reported({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } }, 8));
  stage.onAdd = async () => {
    stage.onAdd = undefined;
    stage.time += FROZEN_MS;
    await stage.leave();
    expect(stage.notes.get('1')).toHaveLength(1);
    await calls.call(AbortSignal.timeout(9_000));
    return undefined;
  };
  await stage.leave();
  expect([stage.notes.get('1')?.length, calls.left]).toEqual([1, []]);
  expect(await stage.lanes('note:crm')).toEqual([]);
});
