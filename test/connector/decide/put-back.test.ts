/** What writes went over in an address comes back whole, through holds, undoes, merges and writes that arrive late. */
import { describe, expect, test } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { moveLink } from '../../../src/connector/follow/move-link.ts';
import { settleDifference } from '../../../src/connector/history/differences.ts';
import { clearOverride, setOverride } from '../../../src/connector/overrides/override.ts';
import { AARHUS, KOLDING, ODENSE } from '../../support/addresses.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { type AddressWorld, openAddress } from '../sync/address-world.ts';

const inAarhus = { address: 'Østergade 1', zip: '8000', city: 'Aarhus C', state: null };
const inOdense = { address: 'Vestergade 1', zip: '5000', city: 'Odense C', state: null };
const inKolding = { address: 'Havnegade 1', zip: '6000', city: 'Kolding', state: null };
const EDIT = { address: 'Visitgade 5' };
const HOLD = { kind: 'hold', once: false, until: null, reason: 'wait' } as const;
const ref = (property: string, recordId = 'one') => ({ provider: 'crm', recordId, property });

describe.each(SUITE_ENGINES)('an address that a write overwrote (%s)', (engine) => {
  /** A person changes the street right before our write of another address arrives. */
  async function overwritten(): Promise<AddressWorld> {
    const world = await openAddress(engine, { tells: true, coName: true });
    await world.move(null, AARHUS);
    world.meanwhile.before = () => void Object.assign(world.record, EDIT);
    await world.move(AARHUS, ODENSE);
    expect(world.record).toMatchObject(inOdense);
    return world;
  }

  test.each(['address', 'zip', 'state'])('waits as a whole for the end of a hold on %s', async (property) => {
    const { store, clock, record, sync, move, again } = await overwritten();
    await store.write((tx) => setOverride(tx, ref(property), HOLD, clock.now));
    await sync();
    await move(ODENSE, KOLDING);
    expect(record).toMatchObject(inOdense);
    await store.write((tx) => clearOverride(tx, ref(property), 'hold', clock.now));
    await again();
    expect(record).toMatchObject({ ...inAarhus, ...EDIT });
  });

  test('is restored as a whole if the register has one more part by then', async () => {
    const { record, move, differences } = await overwritten();
    await move(ODENSE, { ...KOLDING, coName: 'Anne Berg' });
    expect(record).toMatchObject({ ...inAarhus, ...EDIT, address2: null });
    expect(await differences()).toHaveLength(1);
  });

  test('is restored unchanged over another edit', async () => {
    const { record, meanwhile, sync } = await overwritten();
    meanwhile.before = () => void Object.assign(record, { city: 'Byen' });
    await sync();
    expect(record).toMatchObject({ ...inAarhus, ...EDIT });
    await sync();
    expect(record).toMatchObject({ ...inOdense, city: 'Byen' });
  });

  test('is restored in the record that it was merged into', async () => {
    const { store, clock, record, sync } = await overwritten();
    await store.write((tx) => moveLink(tx, { provider: 'crm', from: 'one', to: 'survivor', now: clock.now }));
    await sync();
    expect(record).toMatchObject({ ...inAarhus, ...EDIT });
  });

  test('is not restored if the merge left parts of another one', async () => {
    const { store, clock, record, sync, differences } = await overwritten();
    await store.write((tx) => moveLink(tx, { provider: 'crm', from: 'one', to: 'survivor', now: clock.now }));
    record['zip'] = '2100';
    await sync();
    expect(record).toMatchObject({ ...inOdense, zip: '2100' });
    expect(await differences()).toHaveLength(1);
  });

  test('is restored as a whole after an undo overwrote it', async () => {
    const { store, clock, record, meanwhile, sync, move, undo } = await openAddress(engine, { tells: true });
    await move(null, AARHUS);
    record['state'] = 'Midtjylland';
    await move(AARHUS, ODENSE);
    meanwhile.before = () => void Object.assign(record, EDIT);
    await undo();
    expect(record).toEqual({ ...inAarhus, state: 'Midtjylland' });
    await sync();
    expect(record).toEqual({ ...inOdense, ...EDIT });
    await store.write((tx) => clearOverride(tx, ref('zip'), 'hold', clock.now));
    await move(ODENSE, KOLDING);
    expect(record).toEqual({ ...inOdense, ...EDIT });
  });
});

describe.each(SUITE_ENGINES)('an address that an undo restored (%s)', (engine) => {
  async function undone(): Promise<AddressWorld> {
    const world = await openAddress(engine, { coName: true });
    await world.move(null, AARHUS);
    await world.move(AARHUS, ODENSE);
    return world;
  }

  test('is kept as a whole until the holds of all its parts end', async () => {
    const { store, clock, record, again, move, undo } = await undone();
    await undo();
    for (const property of ['address', 'zip', 'city']) {
      await again();
      await move(KOLDING, ODENSE);
      expect(record).toMatchObject(inAarhus);
      await store.write((tx) => clearOverride(tx, ref(property), 'hold', clock.now));
    }
    await again();
    expect(record).toMatchObject(inOdense);
  });

  test("is restored as a whole in spite of a person's hold on one part", async () => {
    const { store, clock, record, again, undo } = await undone();
    await store.write((tx) => setOverride(tx, ref('zip'), HOLD, clock.now));
    expect(await undo()).toEqual(['address restored', 'city restored', 'zip restored']);
    expect(record).toMatchObject(inAarhus);
    for (const property of ['address', 'city'])
      await store.write((tx) => clearOverride(tx, ref(property), 'hold', clock.now));
    await again();
    expect(record).toMatchObject(inAarhus);
  });

  test('is restored as a whole after a late write with an additional part', async () => {
    const { clock, record, meanwhile, move, goOn, undo } = await undone();
    meanwhile.before = () => {
      throw new ProviderError('unavailable', 'no answer came');
    };
    await move(ODENSE, { ...KOLDING, coName: 'Anne Berg' });
    clock.now += 5_000;
    await undo();
    expect(record).toMatchObject(inAarhus);
    await goOn(1);
    Object.assign(record, inKolding, { address2: 'Anne Berg' });
    for (const seconds of [60, 120, 600, 1_800, 7_200]) await goOn(seconds);
    expect(record).toMatchObject({ ...inAarhus, address2: null });
  });
});

describe.each(SUITE_ENGINES)('a kept address (%s)', (engine) => {
  async function kept(): Promise<AddressWorld> {
    const world = await openAddress(engine, { coName: true });
    await world.move(null, AARHUS);
    Object.assign(world.record, { ...inOdense, ...EDIT });
    await world.move(AARHUS, ODENSE);
    expect(world.record).toMatchObject({ ...inOdense, ...EDIT });
    return world;
  }

  test('is not written by an answer to a part of it, and stays a difference', async () => {
    const { store, clock, record, move, again, differences } = await kept();
    await move(ODENSE, KOLDING);
    await store.write((tx) => settleDifference(tx, ref('zip'), 'register', clock.now));
    await again();
    expect(record).toMatchObject({ ...inOdense, ...EDIT });
    expect(await differences()).toHaveLength(1);
  });

  test('is not overwritten by a release of seen values if another part changed since', async () => {
    const { store, clock, record, move, differences } = await kept();
    await store.write((tx) => settleDifference(tx, ref('address'), 'register', clock.now));
    await move(ODENSE, KOLDING);
    expect(record).toMatchObject({ ...inOdense, ...EDIT });
    expect(await differences()).toHaveLength(1);
  });

  test('is kept as a whole when a hold on seen values ends, and becomes a difference again', async () => {
    const { store, clock, record, move, again, differences } = await kept();
    await store.write((tx) => settleDifference(tx, ref('address'), 'crm', clock.now));
    await move(ODENSE, KOLDING);
    expect([record, await differences()]).toMatchObject([{ ...inOdense, ...EDIT }, []]);
    await store.write((tx) => clearOverride(tx, ref('address'), 'hold', clock.now));
    await again();
    expect(record).toMatchObject({ ...inOdense, ...EDIT });
    expect(await differences()).toHaveLength(1);
  });
});

test.each(SUITE_ENGINES)(
  'a kept address is restored as a whole after a write of a frozen process (%s)',
  async (engine) => {
    const { clock, record, meanwhile, move, again, goOn, differences } = await openAddress(engine);
    await move(null, AARHUS);
    meanwhile.before = async () => {
      clock.now += 40_000;
      await move(KOLDING, ODENSE);
      expect(record).toEqual(inOdense);
      clock.now += 1_000;
      Object.assign(record, EDIT);
      await again();
    };
    await move(AARHUS, KOLDING);
    expect(record).toEqual(inKolding);
    await goOn(60);
    expect(record).toEqual({ ...inOdense, ...EDIT });
    expect(await differences()).toHaveLength(1);
  },
);
