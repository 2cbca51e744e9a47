/** Two processes on one store, of which one stands still between its last look at the store and the bytes of its write. */
import { describe, expect, test } from 'vitest';
import { checkPendingWrites } from '../../src/runtime/lanes/pending-writes.ts';
import { ENGINES } from '../support/stores.ts';
import { history, laneCount, open, report, standsStill, sync } from './sync/two-syncs.ts';

describe.each(ENGINES)('a stale write is repaired in the CRM (%s)', (engine) => {
  test.each([
    ['tracked', 'A ApS', 'register'],
    ['always', 'A ApS', 'always'],
    // What is no longer blank is not ours to change, unless we filled it ourselves, and with something newer.
    ['if-blank', null, 'blank'],
  ] as const)('under the policy %s, and history says what happened', async (policy, name, rule) => {
    const world = await open(engine, name, policy);
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = standsStill(world);
    await sync(world);
    expect(world.held.name).toBe('B ApS');
    expect(world.log).toEqual([expect.stringContaining('sent what another process may have changed since')]);
    expect(await world.metrics.registry.metrics()).toContain('cvrsync_sent_after_lease_lost_total{queue="sync:crm"} 1');

    expect(await sync(world)).toBe(1);
    expect(world.held.name).toBe('C ApS');
    expect(await history(world)).toEqual([
      [rule, name, 'C ApS'],
      ['ours-after-all', 'C ApS', 'B ApS'],
      [policy === 'always' ? 'always' : 'ours', 'B ApS', 'C ApS'],
    ]);
    expect(await laneCount(world)).toBe(0);
    expect(await world.store.db.selectFrom('pending_write').selectAll().execute()).toEqual([]);
  });

  test('even if the process dies right after it sent the write', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    const sent = Promise.withResolvers<void>();
    world.meanwhile.before = standsStill(world);
    world.meanwhile.after = async () => {
      sent.resolve();
      await new Promise(() => {});
    };
    void sync(world);
    await sent.promise;
    expect([world.held.name, await laneCount(world)]).toEqual(['B ApS', 0]);

    world.clock.now += 60_000;
    await world.store.write((tx) => checkPendingWrites(tx, world.clock.now));
    expect(await sync(world)).toBe(1);
    expect(world.held.name).toBe('C ApS');
    expect((await history(world)).map(([rule]) => rule)).toEqual(['register', 'ours-after-all', 'ours']);
  });

  test('and a write that never arrives is checked for one day', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    const frozen = Promise.withResolvers<void>();
    world.meanwhile.before = async () => {
      await standsStill(world)();
      frozen.resolve();
      await new Promise(() => {});
    };
    void sync(world);
    await frozen.promise;
    const looks: number[] = [];
    for (let minute = 0; minute < 1_500; minute += 1) {
      world.clock.now += 60_000;
      await world.store.write((tx) => checkPendingWrites(tx, world.clock.now));
      if ((await laneCount(world)) === 0) continue;
      looks.push(minute);
      await sync(world);
    }
    expect(looks.length).toBeGreaterThanOrEqual(6);
    expect(looks.at(-1)).toBeGreaterThan(1_000);
    expect(await world.store.db.selectFrom('pending_write').selectAll().execute()).toEqual([]);
    expect(await history(world)).toEqual([['register', 'A ApS', 'C ApS']]);
  });
});

describe.each(ENGINES)('a process that freezes between its last read and the write (%s)', (engine) => {
  test('sends nothing, because it checks its lease after the wait for the rate limiter', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    const waitsLong = async () => {
      world.clock.now += 300;
    };
    // Read again twice, and no more: nothing but the lease keeps the third try from leaving.
    world.waits.push(waitsLong, waitsLong, standsStill(world));
    await sync(world);
    expect(world.held.name).toBe('C ApS');
    expect(world.log).toEqual([expect.stringContaining('another process has its work')]);
    const counted = await world.metrics.registry.metrics();
    expect(counted).toMatch(/cvrsync_lease_lost_total 1$/m);
    expect(counted).toContain('cvrsync_sent_after_lease_lost_total{queue="sync:crm"} 0');
    expect(await history(world)).toEqual([['register', 'A ApS', 'C ApS']]);
    expect(await laneCount(world)).toBe(0);
    expect(await world.store.db.selectFrom('pending_write').selectAll().execute()).toEqual([]);
  });
});
