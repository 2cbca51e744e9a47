/** What a CRM makes of a value counts as ours, as the value does; an edit that a write went over comes back. */
import { describe, expect, test } from 'vitest';
import type { PropertyValue } from '../../../providers/provider.ts';
import { moveLink } from '../../../src/connector/follow/move-link.ts';
import { readDifferences } from '../../../src/connector/history/differences.ts';
import { rememberOverwritten } from '../../../src/connector/history/overwritten.ts';
import { readWritten } from '../../../src/connector/history/written.ts';
import { setOverride } from '../../../src/connector/overrides/override.ts';
import { claim, mark } from '../../../src/runtime/lanes/lanes.ts';
import { historyLines } from '../../support/history.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { history, open, RECORD, report, sync, takeBack, type World } from './two-syncs.ts';

const upper = (value: PropertyValue): PropertyValue => (typeof value === 'string' ? value.toUpperCase() : value);
const escaped = (value: PropertyValue): PropertyValue => String(value).replaceAll('&', '&amp;');
const EDIT = 'As a person wrote it';

const again = async (world: World): Promise<void> => {
  await world.store.write((tx) => mark(tx, 'sync:crm', [RECORD], world.clock.now));
  await sync(world);
};

const rules = async (world: World) => (await history(world)).map(([rule]) => rule);

describe.each(SUITE_ENGINES)('a value that the CRM respells (%s)', (engine) => {
  async function respelled(respell: World['habits']['respell'] = upper, name: PropertyValue = 'A ApS'): Promise<World> {
    const world = await open(engine, name, 'tracked');
    Object.assign(world.habits, { respell, tells: true });
    await report(world, 'A ApS', 'B & Co ApS', 8);
    await sync(world);
    return world;
  }

  test('is not written again, follows the register, and is explained', async () => {
    const world = await respelled();
    expect(world.held.name).toBe('B & CO APS');
    await again(world);
    await report(world, 'B & Co ApS', 'B & Co ApS', 9);
    await sync(world);
    await report(world, 'B & Co ApS', 'C ApS', 10);
    await sync(world);
    expect(world.held.name).toBe('C APS');
    const written = (await historyLines(world.store.db)).filter(({ outcome }) => outcome === 'written');
    expect(written).toMatchObject([
      {
        rule: 'register',
        now: 'B & Co ApS',
        stored: 'B & CO APS',
        detail: 'the CRM holds another value: "B & CO APS"',
      },
      { rule: 'ours', old: 'B & CO APS', now: 'C ApS', stored: 'C APS' },
    ]);
    expect(await readDifferences(world.store.db, world.clock.now, {}, 9)).toEqual([]);
    expect((await readWritten(world.store.db, 'crm', [RECORD])).get(RECORD)?.get('name')).toMatchObject({
      value: 'C ApS',
      stored: 'C APS',
    });
  });

  test('is written again only if a person lets the register win once', async () => {
    const world = await respelled();
    const ref = { provider: 'crm', recordId: RECORD, property: 'name' };
    const release = { kind: 'release', once: true, until: null, reason: 'the trigger is gone' } as const;
    await world.store.write((tx) => setOverride(tx, ref, release, world.clock.now));
    world.habits.respell = (value) => value;
    await again(world);
    expect(world.held.name).toBe('B & Co ApS');
    expect(await rules(world)).toEqual(['register', 'released']);
    await again(world);
    expect(world.held.name).toBe('B & Co ApS');
  });

  test('is restored by undo, and the undo can be undone', async () => {
    for (const respell of [upper, escaped]) {
      const world = await respelled(respell);
      await report(world, 'B & Co ApS', 'C & D ApS', 9);
      await sync(world);
      const [, second] = await historyLines(world.store.db);
      await takeBack(world, { event: second?.seq });
      expect(world.held.name).toBe(respell('B & Co ApS'));
      await takeBack(world, { rule: 'undo' });
      expect(world.held.name).toBe(respell('C & D ApS'));
      await takeBack(world, {});
      expect(world.held.name).toBe(respell('A ApS'));
    }
  });

  test("is a person's once a person has changed it", async () => {
    const world = await respelled();
    world.held.name = EDIT;
    await report(world, 'B & Co ApS', 'C ApS', 9);
    await sync(world);
    await takeBack(world, {});
    expect(world.held.name).toBe(EDIT);
    expect(await rules(world)).toEqual(['register', 'edited']);
  });

  test('moves with its record into another one', async () => {
    const world = await respelled();
    const move = { provider: 'crm', from: RECORD, to: 'survivor', now: world.clock.now };
    await world.store.write((tx) => moveLink(tx, move));
    await report(world, 'B & Co ApS', 'C ApS', 9);
    await sync(world);
    expect(world.held.name).toBe('C APS');
  });
});

describe.each(SUITE_ENGINES)('an edit between our read and our write (%s)', (engine) => {
  /** A person edits the record right before our write arrives. */
  async function overwritten(policy: 'tracked' | 'if-blank' | 'always', edit: PropertyValue = EDIT): Promise<World> {
    const world = await open(engine, policy === 'if-blank' ? null : 'A ApS', policy);
    world.habits.tells = true;
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = async () => {
      world.held.name = edit;
    };
    await sync(world);
    expect(world.held.name).toBe('B ApS');
    return world;
  }

  const putBack = async ({ metrics }: World) => (await metrics.editsPutBack.get()).values[0]?.value ?? 0;

  test.each(['tracked', 'if-blank'] as const)('is restored under %s, and recorded', async (policy) => {
    const world = await overwritten(policy);
    await sync(world);
    expect([world.held.name, await putBack(world)]).toEqual([EDIT, 1]);
    expect((await historyLines(world.store.db)).at(-1)).toMatchObject({
      ...{ rule: 'returned', old: 'B ApS', now: EDIT, outcome: 'written' },
      detail: 'a person wrote this between our read of the record and our write',
    });
    await report(world, 'B ApS', 'C ApS', 9);
    await sync(world);
    await takeBack(world, {});
    expect([world.held.name, await putBack(world)]).toEqual([EDIT, 1]);
    const open = policy === 'tracked' ? [{ crm: `"${EDIT}"`, register: '"C ApS"' }] : [];
    expect(await readDifferences(world.store.db, world.clock.now, {}, 9)).toMatchObject(open);
  });

  test('is restored if the CRM respelled our write', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    Object.assign(world.habits, { respell: upper, tells: true });
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = async () => {
      world.held.name = EDIT;
    };
    await sync(world);
    await sync(world);
    expect(world.held.name).toBe(upper(EDIT));
  });

  test.each([
    ['the policy overwrites what people write', 'always', EDIT],
    ['it is a value that the register had', 'tracked', 'A  ApS'],
    ['it is what we wrote', 'tracked', 'B ApS'],
    ['it cleared the property', 'tracked', null],
  ] as const)('stays as it is where %s', async (_why, policy, edit) => {
    const world = await overwritten(policy, edit);
    await sync(world);
    await again(world);
    expect([world.held.name, await putBack(world)]).toEqual(['B ApS', 0]);
  });

  test('stays overwritten if a person has written another value since', async () => {
    const world = await overwritten('tracked');
    world.held.name = 'Newer';
    await sync(world);
    world.held.name = 'B ApS';
    await again(world);
    expect([world.held.name, await putBack(world)]).toEqual(['B ApS', 0]);
  });

  test('waits for the end of a hold', async () => {
    const world = await overwritten('tracked');
    const ref = { provider: 'crm', recordId: RECORD, property: 'name' };
    const until = world.clock.now + 60_000;
    await world.store.write((tx) =>
      setOverride(tx, ref, { kind: 'hold', once: false, until, reason: 'wait' }, world.clock.now),
    );
    await sync(world);
    expect(world.held.name).toBe('B ApS');
    world.clock.now += 61_000;
    await again(world);
    expect(world.held.name).toBe(EDIT);
  });

  test('stays overwritten after a hold in which a person wrote another value, and reverted it', async () => {
    const world = await overwritten('tracked');
    const ref = { provider: 'crm', recordId: RECORD, property: 'name' };
    const until = world.clock.now + 60_000;
    await world.store.write((tx) =>
      setOverride(tx, ref, { kind: 'hold', once: false, until, reason: 'wait' }, world.clock.now),
    );
    await sync(world);
    world.held.name = 'Newer';
    await again(world);
    world.held.name = 'B ApS';
    world.clock.now += 61_000;
    await again(world);
    expect([world.held.name, await putBack(world)]).toEqual(['B ApS', 0]);
  });

  test('stays overwritten after the hold of an undo, which restored another value', async () => {
    const world = await open(engine, null, 'tracked');
    world.habits.tells = true;
    await report(world, '', 'A ApS', 7);
    await sync(world);
    await report(world, 'A ApS', 'B ApS', 8);
    world.meanwhile.before = async () => {
      world.held.name = EDIT;
    };
    await sync(world);
    const second = (await historyLines(world.store.db)).at(-1);
    await takeBack(world, { event: second?.seq });
    expect(world.held.name).toBe('A ApS');
    await sync(world);
    world.clock.now += 31 * 24 * 3_600_000;
    await again(world);
    expect([world.held.name, await putBack(world)]).toEqual(['B ApS', 0]);
  });

  test('that the restore itself overwrites is restored, too', async () => {
    const world = await overwritten('tracked');
    world.meanwhile.before = async () => {
      world.held.name = 'Newer';
    };
    await sync(world);
    expect(world.held.name).toBe(EDIT);
    await sync(world);
    expect([world.held.name, await putBack(world)]).toEqual(['Newer', 2]);
  });

  test('that an undo overwrote is restored', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    world.habits.tells = true;
    await report(world, 'A ApS', 'B ApS', 8);
    await sync(world);
    world.meanwhile.before = async () => {
      world.held.name = EDIT;
    };
    await takeBack(world, {});
    expect(world.held.name).toBe('A ApS');
    await sync(world);
    expect(world.held.name).toBe(EDIT);
  });

  test('that is found during a later sync is not lost by that sync', async () => {
    const world = await open(engine, 'A ApS', 'tracked');
    await report(world, 'A ApS', 'B ApS', 8);
    await sync(world);
    await report(world, 'B ApS', 'C ApS', 9);
    world.meanwhile.after = async () => {
      const edit = { id: RECORD, property: 'name', value: EDIT };
      await world.store.write((tx) => rememberOverwritten(tx, 'crm', [edit], world.clock.now));
    };
    await sync(world);
    expect(world.held.name).toBe('C ApS');
    await sync(world);
    expect(world.held.name).toBe(EDIT);
    expect(await claim(world.store, 'sync:crm', { limit: 9, now: world.clock.now, leaseMs: 1 })).toEqual([]);
  });
});
