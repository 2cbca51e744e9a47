/** A write of one part of an address carries the others: who edits one of them meanwhile gets their address back whole. */
import { describe, expect, test } from 'vitest';
import { setOverride } from '../../../src/connector/overrides/override.ts';
import { AARHUS } from '../../support/addresses.ts';
import { historyLines } from '../../support/history.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { openAddress } from './address-world.ts';

const NYGADE = { ...AARHUS, streetName: 'Nygade' };
const STRANDVEJ = { ...AARHUS, streetName: 'Strandvej' };
const HELD = { address: 'Østergade 1', zip: '8000', city: 'Aarhus C', state: null };

describe.each(SUITE_ENGINES)('a change of the street alone (%s)', (engine) => {
  async function opened(options: Parameters<typeof openAddress>[1] = {}) {
    const world = await openAddress(engine, { tells: true, ...options });
    await world.move(null, AARHUS);
    world.sent.length = 0;
    return world;
  }

  test('is written with the other parts unchanged, and only the street counts as a write', async () => {
    const { record, sent, store, move, undo } = await opened();
    record.zip = ' 8000';
    await move(AARHUS, NYGADE);
    expect(sent).toEqual([{ address: 'Nygade 1', zip: ' 8000', city: 'Aarhus C' }]);
    const lines = (await historyLines(store.db)).filter(({ seq }) => seq === 2);
    expect(lines.filter(({ outcome }) => outcome === 'written').map(({ property }) => property)).toEqual(['address']);
    expect(lines.filter(({ outcome }) => outcome === 'carried').map(({ property, now }) => [property, now])).toEqual([
      ['zip', ' 8000'],
      ['city', 'Aarhus C'],
    ]);
    expect(await undo()).toEqual(['address restored']);
    expect(record).toEqual({ ...HELD, zip: ' 8000' });
  });

  test('is not undone if a person changed another part since', async () => {
    const { record, move, undo } = await opened();
    await move(AARHUS, NYGADE);
    Object.assign(record, { city: 'Byen' });
    expect(await undo()).toEqual(['address edited']);
    expect(record).toEqual({ ...HELD, address: 'Nygade 1', city: 'Byen' });
    Object.assign(record, { city: 'Aarhus C' });
    expect(await undo()).toEqual(['address restored']);
    expect(record).toEqual(HELD);
  });

  test.each([{ city: 'Byen' }, { zip: '8200' }, { zip: '8200', city: 'Byen' }])(
    'brings back the address into which a person wrote %o meanwhile, as one difference',
    async (edit) => {
      const { record, meanwhile, move, sync, again, differences } = await opened();
      meanwhile.before = () => void Object.assign(record, edit);
      await move(AARHUS, NYGADE);
      expect(record).toEqual({ ...HELD, address: 'Nygade 1' });
      await sync();
      expect(record).toEqual({ ...HELD, ...edit });
      await again();
      await move(NYGADE, STRANDVEJ);
      expect(record).toEqual({ ...HELD, ...edit });
      expect(await differences()).toHaveLength(1);
    },
  );

  test('restores a c/o name that a person added meanwhile', async () => {
    const { record, meanwhile, move, sync } = await opened({ coName: true });
    meanwhile.before = () => void Object.assign(record, { address2: 'c/o Anne Berg' });
    await move(AARHUS, NYGADE);
    await sync();
    expect(record).toEqual({ ...HELD, address2: 'c/o Anne Berg' });
  });

  test('respects a town that a person cleared meanwhile, like one cleared before', async () => {
    const { record, meanwhile, move, sync, differences } = await opened();
    meanwhile.before = () => void Object.assign(record, { city: null });
    await move(AARHUS, NYGADE);
    await sync();
    expect(record).toEqual({ ...HELD, address: 'Nygade 1' });
    expect(await differences()).toEqual([]);
  });

  test('is written without an unchanged part that the CRM refuses, without a review entry', async () => {
    const { record, refused, sent, store, move } = await opened();
    refused.add('Aarhus C');
    await move(AARHUS, NYGADE);
    expect(sent).toEqual([
      { address: 'Nygade 1', zip: '8000', city: 'Aarhus C' },
      { address: 'Nygade 1', zip: '8000' },
    ]);
    expect(record).toEqual({ ...HELD, address: 'Nygade 1' });
    const aside = store.db.selectFrom('property_state').select('property').where('refused', 'is not', null);
    expect(await aside.execute()).toEqual([]);
  });

  test('sends nothing if the CRM refuses the street', async () => {
    const { record, refused, sent, move } = await opened();
    refused.add('Nygade 1');
    await move(AARHUS, NYGADE);
    expect([record, sent.length]).toEqual([HELD, 1]);
  });

  test('sends nothing under a hold of another part', async () => {
    const { record, store, clock, sent, move } = await opened();
    const hold = { kind: 'hold', once: false, until: null, reason: null } as const;
    const ref = { provider: 'crm', recordId: 'one', property: 'city' };
    await store.write((tx) => setOverride(tx, ref, hold, clock.now));
    await move(AARHUS, NYGADE);
    expect([record, sent]).toEqual([HELD, []]);
  });

  test('stores the spelling of the CRM for a part, as our own', async () => {
    const { record, sent, meanwhile, move, sync, differences } = await opened({
      respell: { city: (text) => text.toUpperCase() },
    });
    await move(AARHUS, NYGADE);
    expect(sent.at(-1)).toMatchObject({ city: 'Aarhus C' });
    await move(NYGADE, STRANDVEJ);
    expect(record).toEqual({ ...HELD, address: 'Strandvej 1', city: 'AARHUS C' });
    meanwhile.before = () => void Object.assign(record, { city: 'Byen' });
    await move(STRANDVEJ, NYGADE);
    await sync();
    expect(record).toEqual({ ...HELD, address: 'Strandvej 1', city: 'BYEN' });
    expect(await differences()).toHaveLength(1);
  });

  test('sends only the street to a CRM that does not report replaced values', async () => {
    const { record, sent, meanwhile, move } = await opened({ tells: false });
    meanwhile.before = () => void Object.assign(record, { city: 'Byen' });
    await move(AARHUS, NYGADE);
    expect([record.city, sent]).toEqual(['Byen', [{ address: 'Nygade 1' }]]);
  });
});
