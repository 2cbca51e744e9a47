/** Writes of a process that stood still, which went although another had its lane: what is taken for ours, and what for a person's. */
import { describe, expect, test } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { moveLink } from '../../../src/connector/follow/move-link.ts';
import { readDifferences, settleDifference } from '../../../src/connector/history/differences.ts';
import { endHoldsIn } from '../../../src/connector/overrides/hold-list.ts';
import { mark } from '../../../src/runtime/lanes/lanes.ts';
import { ENTITY } from '../../faults/company.ts';
import { ENGINES } from '../../support/stores.ts';
import {
  goOn,
  history,
  open,
  pendingCount,
  RECORD,
  report,
  standsStill,
  sync,
  takeBack,
  type World,
} from './two-syncs.ts';

describe.each(ENGINES)('a stale write that was answered late (%s)', (engine) => {
  test('does not make the same later value of a person ours', async () => {
    const world = await open(engine, null, 'if-blank');
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = standsStill(world);
    world.meanwhile.after = async () => {
      world.held.name = 'As a person wrote it';
    };
    await sync(world);
    expect(await sync(world)).toBe(1);
    expect([world.held.name, await pendingCount(world)]).toEqual(['As a person wrote it', 1]);
    await goOn(world, 31);
    expect(await pendingCount(world)).toBe(0);

    world.held.name = 'B ApS';
    await report(world, 'C ApS', 'D ApS', 10);
    expect(await sync(world)).toBe(1);
    expect(world.held.name).toBe('B ApS');
  });

  test('is repaired even if the CRM shows it some time after its answer', async () => {
    const world = await open(engine, null, 'if-blank');
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = standsStill(world);
    world.meanwhile.after = async () => {
      world.held.name = 'C ApS';
    };
    await sync(world);
    await goOn(world, 10);
    world.held.name = 'B ApS';
    await goOn(world, 21);
    expect([world.held.name, await pendingCount(world)]).toEqual(['C ApS', 0]);
    expect((await history(world)).map(([rule]) => rule)).toEqual(['blank', 'ours-after-all', 'ours']);
  });
});

describe.each(ENGINES)('an edit that a stale write replaced according to its answer (%s)', (engine) => {
  /** A person edits before the write arrives, and another process has the record before its answer does. */
  async function replaced(takeOver: (world: World) => Promise<void>): Promise<World> {
    const world = await open(engine, 'A ApS', 'tracked');
    world.habits.tells = true;
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = async () => {
      world.held.name = 'As a person wrote it';
    };
    world.meanwhile.after = async () => {
      world.clock.now += 40_000;
      await takeOver(world);
    };
    await sync(world);
    return world;
  }

  test('is restored, although another process took the record before the answer', async () => {
    const world = await replaced(async (taken) => {
      expect(await sync(taken)).toBe(1);
      expect(taken.held.name).toBe('B ApS');
    });
    await goOn(world, 31);
    expect(world.held.name).toBe('As a person wrote it');
  });

  test('is restored if the write was an undo, and another process finished that undo', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    world.habits.tells = true;
    await report(world, 'A ApS', 'B ApS', 8);
    await sync(world);
    world.meanwhile.before = async () => {
      world.held.name = 'As a person wrote it';
    };
    world.meanwhile.after = async () => {
      world.clock.now += 40_000;
      await takeBack(world, { entity: ENTITY });
    };
    await takeBack(world, { entity: ENTITY });
    expect(world.held.name).toBe('A ApS');
    await goOn(world, 31);
    expect(world.held.name).toBe('As a person wrote it');
  });

  test('is restored if that process has written a newer value since', async () => {
    const world = await replaced(async (taken) => {
      await report(taken, 'B ApS', 'C ApS', 9);
      expect(await sync(taken)).toBe(1);
      expect(taken.held.name).toBe('C ApS');
    });
    await goOn(world, 31);
    expect(world.held.name).toBe('As a person wrote it');
  });
});

describe.each(ENGINES)('a stale write to a record that was merged meanwhile (%s)', (engine) => {
  /** The CRM lets a write to a merged record through to its survivor. */
  async function arrivedLate(): Promise<World> {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = async () => {
      world.clock.now += 40_000;
      await report(world, 'B ApS', 'C ApS', 9);
      const move = { provider: 'crm', from: RECORD, to: 'survivor', now: world.clock.now };
      await world.store.write((tx) => moveLink(tx, move));
      await sync(world);
      expect(world.held.name).toBe('C ApS');
    };
    await sync(world);
    expect(world.held.name).toBe('B ApS');
    return world;
  }

  test('is repaired on the survivor, and checked as long as any other', async () => {
    const world = await arrivedLate();
    await goOn(world, 60);
    expect(world.held.name).toBe('C ApS');
    expect((await history(world)).at(-2)).toEqual(['ours-after-all', 'C ApS', 'B ApS']);
    expect(await pendingCount(world)).toBe(0);
  });

  test('whose answer reaches its process needs no checks', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.after = async () => {
      const move = { provider: 'crm', from: RECORD, to: 'survivor', now: world.clock.now };
      await world.store.write((tx) => moveLink(tx, move));
    };
    await sync(world);
    expect(await pendingCount(world)).toBe(0);
  });
});

describe.each(ENGINES)("a stale write over a person's edit (%s)", (engine) => {
  const EDIT = 'As a person wrote it';

  /** A person's edit is known to us when a write that is older than our last one goes over it. */
  async function overwritten(): Promise<World> {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = async () => {
      await standsStill(world)();
      world.held.name = EDIT;
      await world.store.write((tx) => mark(tx, 'sync:crm', [RECORD], world.clock.now));
      expect(await sync(world)).toBe(1);
    };
    await sync(world);
    expect(world.held.name).toBe('B ApS');
    return world;
  }

  const TOLD = [
    ['register', 'A ApS', 'C ApS'],
    ['edited', EDIT, 'C ApS'],
    ['ours-after-all', EDIT, 'B ApS'],
    ['returned', 'B ApS', EDIT],
  ];

  test('is reverted, so that the edit is restored, with entries in history and review', async () => {
    const world = await overwritten();
    expect(await sync(world)).toBe(1);
    expect([world.held.name, await pendingCount(world)]).toEqual([EDIT, 0]);
    expect(await history(world)).toEqual(TOLD);
    expect(await readDifferences(world.store.db, world.clock.now, {}, 9)).toMatchObject([
      { crm: `"${EDIT}"`, register: '"C ApS"' },
    ]);

    await report(world, 'C ApS', 'D ApS', 10);
    expect(await sync(world)).toBe(1);
    expect(world.held.name).toBe(EDIT);
    const selections = [{ entity: ENTITY }, { event: 1 }, { event: 2 }];
    for (const selection of selections) await takeBack(world, selection);
    expect(world.held.name).toBe(EDIT);
  });

  test.each(['before', 'after'] as const)('is reverted even if the CRM fails %s the restore', async (when) => {
    const world = await overwritten();
    world.meanwhile[when] = async () => {
      throw new ProviderError('unavailable', 'no answer came');
    };
    await sync(world);
    expect(world.held.name).toBe(when === 'before' ? 'B ApS' : EDIT);
    await goOn(world, 60);
    expect(world.held.name).toBe(EDIT);
    await report(world, 'C ApS', 'D ApS', 10);
    expect(await sync(world)).toBe(1);
    expect(world.held.name).toBe(EDIT);
    if (when === 'before') expect((await history(world)).slice(0, 4)).toEqual(TOLD);
  });

  test('stays if a person lets the register win', async () => {
    const world = await overwritten();
    expect(await sync(world)).toBe(1);
    const ref = { provider: 'crm', recordId: RECORD, property: 'name' };
    await world.store.write(async (tx) => {
      expect(await settleDifference(tx, ref, 'register', world.clock.now)).toEqual({ properties: ['name'] });
      await mark(tx, 'sync:crm', [RECORD], world.clock.now);
    });
    expect(await sync(world)).toBe(1);
    expect(world.held.name).toBe('C ApS');
  });
});

describe.each(ENGINES)('a write that arrives after an undo (%s)', (engine) => {
  const later = async (world: World) => {
    for (const seconds of [60, 120, 600, 1_800, 7_200]) await goOn(world, seconds);
  };

  test('is reverted if its answer was lost, and a second undo changes nothing', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    await sync(world);
    await report(world, 'B ApS', 'C ApS', 9);
    world.meanwhile.before = async () => {
      throw new ProviderError('unavailable', 'no answer came');
    };
    await sync(world);
    expect([world.held.name, await pendingCount(world)]).toEqual(['B ApS', 1]);
    world.clock.now += 5_000;
    await takeBack(world, { entity: ENTITY });
    expect(world.held.name).toBe('A ApS');
    await goOn(world, 1);

    world.held.name = 'C ApS';
    await later(world);
    expect([world.held.name, await pendingCount(world)]).toEqual(['A ApS', 0]);
    const told = [
      ['register', 'A ApS', 'B ApS'],
      ['undo', 'B ApS', 'A ApS'],
      ['ours-after-all', 'A ApS', 'C ApS'],
      ['returned', 'C ApS', 'A ApS'],
    ];
    expect((await history(world)).filter(([rule]) => rule !== 'held')).toEqual(told);
    expect(await readDifferences(world.store.db, world.clock.now, {}, 9)).toEqual([]);
    await takeBack(world, { entity: ENTITY });
    expect(world.held.name).toBe('A ApS');
  });

  test('is reverted if a frozen process sent it', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = async () => {
      await standsStill(world)();
      await takeBack(world, { entity: ENTITY });
      expect(world.held.name).toBe('A ApS');
      world.clock.now += 1_000;
    };
    await sync(world);
    expect(world.held.name).toBe('B ApS');
    await later(world);
    expect([world.held.name, await pendingCount(world)]).toEqual(['A ApS', 0]);
  });

  test('is replaced by the register once the hold of the undo has ended', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = async () => {
      throw new ProviderError('unavailable', 'no answer came');
    };
    await sync(world);
    await report(world, 'B ApS', 'C ApS', 9);
    world.clock.now += 60_000;
    await sync(world);
    expect(world.held.name).toBe('C ApS');
    world.clock.now += 1_000;
    await takeBack(world, { entity: ENTITY });
    const { signal } = new AbortController();
    expect(
      await endHoldsIn({ store: world.store, recorded: async () => 1 }, { provider: 'crm' }, world.clock.now, signal),
    ).toBe(1);
    world.held.name = 'B ApS';
    await later(world);
    expect(world.held.name).toBe('C ApS');
  });
});
