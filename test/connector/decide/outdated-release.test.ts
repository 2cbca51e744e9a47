/** The register is let win over what stood in the CRM when a person said so, and over nothing else. */
import { describe, expect, test } from 'vitest';
import { readDifferences, settleDifference } from '../../../src/connector/history/differences.ts';
import { type ENGINES, SUITE_ENGINES } from '../../support/stores.ts';
import { open, RECORD, report, sync, type World } from '../sync/two-syncs.ts';

/** A person wrote a name into the record since we did, and the register says a newer one: a difference. */
async function openDifference(engine: (typeof ENGINES)[number]): Promise<World> {
  const world = await open(engine, 'A ApS', 'tracked');
  await report(world, 'A ApS', 'B ApS', 8);
  await sync(world);
  world.held.name = 'Seen';
  await report(world, 'B ApS', 'C ApS', 9);
  await sync(world);
  expect(await differences(world)).toEqual(['"Seen" "C ApS"']);
  return world;
}

const differences = async ({ store, clock }: World): Promise<readonly string[]> =>
  (await readDifferences(store.db, clock.now, {}, 9)).map(({ crm, register }) => `${crm} ${register}`);

const accept = ({ store, clock }: World) =>
  store.write((tx) =>
    settleDifference(tx, { provider: 'crm', recordId: RECORD, property: 'name' }, 'register', clock.now),
  );

const overrides = async ({ store }: World): Promise<number> =>
  (await store.db.selectFrom('override').select('property').execute()).length;

describe.each(SUITE_ENGINES)('a difference for which the register is accepted (%s)', (engine) => {
  test('gets the register value, once', async () => {
    const world = await openDifference(engine);
    expect(await accept(world)).toEqual({ properties: ['name'] });
    await sync(world);
    expect([world.held.name, await overrides(world), await differences(world)]).toEqual(['C ApS', 0, []]);
  });

  test('keeps an edit made after the answer was shown, and needs another answer', async () => {
    const world = await openDifference(engine);
    world.held.name = 'Written since';
    expect(await accept(world)).toEqual({ properties: ['name'] });
    await sync(world);
    expect(world.held.name).toBe('Written since');
    expect(await differences(world)).toEqual(['"Written since" "C ApS"']);

    // Nor is anything left that would count once the value is back.
    expect(await overrides(world)).toBe(0);
    world.held.name = 'Seen';
    await report(world, 'C ApS', 'D ApS', 10);
    await sync(world);
    expect(world.held.name).toBe('Seen');
  });

  test('ends if a person wrote the value of the register', async () => {
    const world = await openDifference(engine);
    world.held.name = 'C ApS';
    expect(await accept(world)).toEqual({ properties: ['name'] });
    await sync(world);
    expect([world.held.name, await overrides(world), await differences(world)]).toEqual(['C ApS', 0, []]);
  });
});
