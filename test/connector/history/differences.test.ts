/** Differences that a hold comes upon before the record is synced again: its account may be paused for hours. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { countDifferences, readDifferences } from '../../../src/connector/history/differences.ts';
import { ALL_PROPERTIES, clearOverride, setOverride } from '../../../src/connector/overrides/override.ts';
import { resolveReview } from '../../../src/connector/review/resolve.ts';
import { type ENGINES, SUITE_ENGINES } from '../../support/stores.ts';
import { open, RECORD, report, sync, type World } from '../sync/two-syncs.ts';

const EDIT = 'Edited ApS';
const ID = `difference/crm/${RECORD}/name`;

/** A record that a person edited, which the rules keep. */
async function differing(engine: (typeof ENGINES)[number]): Promise<World> {
  const world = await open(engine, 'A ApS', 'tracked');
  await report(world, 'A ApS', 'B ApS', 8);
  await sync(world);
  world.held.name = EDIT;
  await report(world, 'B ApS', 'C ApS', 9);
  await sync(world);
  return world;
}

const listed = async ({ store, clock }: World) => [
  await readDifferences(store.db, clock.now, {}, 9),
  await countDifferences(store.db, clock.now),
];

const hold = ({ store, clock }: World, property: string, until: number | null = null) =>
  store.write((tx) =>
    setOverride(
      tx,
      { provider: 'crm', recordId: RECORD, property },
      { kind: 'hold', once: false, until, reason: 'touch nothing' },
      clock.now,
    ),
  );

const answer = ({ store, clock }: World, verb: 'accept' | 'keep') =>
  store.write((tx) => resolveReview(tx, verb, ID, clock.now));

describe.each(SUITE_ENGINES)('a difference, on %s', (engine) => {
  it.each([ALL_PROPERTIES, 'name'])(
    'is not settled above a hold on %s, nor listed, and nothing is written',
    async (of) => {
      const world = await differing(engine);
      expect(await listed(world)).toEqual([[expect.objectContaining({ crm: `"${EDIT}"` })], 1]);
      await hold(world, of);
      expect(await listed(world)).toEqual([[], 0]);
      for (const verb of ['accept', 'keep'] as const)
        expect(await answer(world, verb)).toEqual({ kind: 'impossible', reason: expect.stringContaining('on hold') });
      await sync(world);
      expect(world.held.name).toBe(EDIT);
      const overrides = await world.store.db.selectFrom('override').select(['property', 'kind', 'reason']).execute();
      expect(overrides).toEqual([{ property: of, kind: 'hold', reason: 'touch nothing' }]);
    },
  );

  it('waits for an answer again once the hold has ended', async () => {
    const world = await differing(engine);
    await hold(world, ALL_PROPERTIES);
    await sync(world);
    const ref = { provider: 'crm', recordId: RECORD, property: ALL_PROPERTIES };
    await world.store.write((tx) => clearOverride(tx, ref, 'hold', world.clock.now));
    await sync(world);
    expect(await listed(world)).toEqual([[expect.objectContaining({ register: '"C ApS"' })], 1]);
    expect(await answer(world, 'accept')).toMatchObject({ kind: 'done' });
    await sync(world);
    expect(world.held.name).toBe('C ApS');
  });

  it('is resolved by a hold that has expired but still exists', async () => {
    const world = await differing(engine);
    await hold(world, ALL_PROPERTIES, world.clock.now + 1_000);
    world.clock.now += 1_000;
    expect(await listed(world)).toEqual([[expect.objectContaining({ crm: `"${EDIT}"` })], 1]);
    expect(await answer(world, 'accept')).toMatchObject({ kind: 'done' });
  });
});

it('an answer does not resolve a difference while another process holds the record', async () => {
  const world = await differing('postgres');
  const { store, clock } = world;
  const waiting = async () => {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(store.db);
    return rows.length;
  };
  const ref = { provider: 'crm', recordId: RECORD, property: ALL_PROPERTIES };
  let answered: ReturnType<typeof answer> | undefined;
  await store.write(async (tx) => {
    await setOverride(tx, ref, { kind: 'hold', once: false, until: null, reason: null }, clock.now);
    answered = answer(world, 'accept');
    await expect.poll(waiting).toBe(1);
  });
  expect(await answered).toMatchObject({ kind: 'impossible' });
});
