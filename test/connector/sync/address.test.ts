/** An address that goes its way through facts, sync, review and undo as one. */
import { describe, expect, test } from 'vitest';
import { forgetFacts } from '../../../src/connector/apply/forget.ts';
import { countDifferences, readDifferences } from '../../../src/connector/history/differences.ts';
import { resolveIfUnchanged } from '../../../src/connector/review/resolve.ts';
import { differenceEntry } from '../../../src/connector/review/review-list.ts';
import { ENTITY } from '../../faults/company.ts';
import { AARHUS, KOLDING, ODENSE } from '../../support/addresses.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { openAddress } from './address-world.ts';

describe.each(SUITE_ENGINES)('an address (%s)', (engine) => {
  test('follows the register, also over the complete previous address', async () => {
    const { record, move } = await openAddress(engine);
    Object.assign(record, { address: 'Østergade 1', zip: '8000', state: 'Region Midtjylland' });
    await move(AARHUS, ODENSE);
    expect(record).toEqual({ address: 'Vestergade 1', zip: '5000', city: 'Odense C', state: null });
  });

  test('that a person changed is one difference, and one answer writes it', async () => {
    const { store, clock, record, move, sync, differences } = await openAddress(engine);
    await move(null, AARHUS);
    record.address = 'Visitgade 5, 2. sal';
    await move(AARHUS, ODENSE);
    expect(record).toEqual({ address: 'Visitgade 5, 2. sal', zip: '8000', city: 'Aarhus C', state: null });
    const [one, ...others] = await differences();
    expect([others, await countDifferences(store.db, clock.now)]).toEqual([[], 1]);
    expect(one).toMatchObject({
      property: 'address',
      crm: JSON.stringify('address: Visitgade 5, 2. sal, city: Aarhus C, zip: 8000'),
      register: JSON.stringify('address: Vestergade 1, city: Odense C, zip: 5000'),
    });
    expect(await readDifferences(store.db, clock.now, { property: 'zip' }, 9)).toHaveLength(1);
    if (one === undefined) return;
    const { id, revision = '' } = differenceEntry(one);
    expect(await store.write((tx) => resolveIfUnchanged(tx, 'accept', { id, revision }, clock.now))).toMatchObject({
      kind: 'done',
    });
    await sync();
    expect(record).toEqual({ address: 'Vestergade 1', zip: '5000', city: 'Odense C', state: null });
    expect(await differences()).toEqual([]);
  });

  test('that is kept stays complete at the next change', async () => {
    const { store, clock, record, move, differences } = await openAddress(engine);
    await move(null, AARHUS);
    record.address = 'Visitgade 5';
    await move(AARHUS, ODENSE);
    const [one] = await differences();
    if (one === undefined) throw new Error('there is no difference');
    await store.write((tx) => resolveIfUnchanged(tx, 'keep', differenceEntry(one) as never, clock.now));
    await move(ODENSE, KOLDING);
    expect(record).toEqual({ address: 'Visitgade 5', zip: '8000', city: 'Aarhus C', state: null });
    expect(await differences()).toEqual([]);
  });

  test('with a refused part is not written at all, lists only that part in review, and is retried a day later', async () => {
    const { store, clock, record, refused, move, sync } = await openAddress(engine);
    await move(null, AARHUS);
    refused.add('Odense C');
    await move(AARHUS, ODENSE);
    expect(record).toEqual({ address: 'Østergade 1', zip: '8000', city: 'Aarhus C', state: null });
    const aside = await store.db
      .selectFrom('property_state')
      .select('property')
      .where('refused', 'is not', null)
      .execute();
    expect(aside).toEqual([{ property: 'city' }]);
    refused.clear();
    await sync();
    expect(record).toMatchObject({ address: 'Østergade 1' });
    clock.now += 24 * 3_600_000;
    await sync();
    expect(record).toEqual({ address: 'Vestergade 1', zip: '5000', city: 'Odense C', state: null });
    await move(ODENSE, KOLDING);
    expect(record).toEqual({ address: 'Havnegade 1', zip: '6000', city: 'Kolding', state: null });
  });

  test('is undone as a whole, unless a part changed since', async () => {
    const { record, move, undo } = await openAddress(engine);
    await move(null, AARHUS);
    record.state = 'Region Midtjylland';
    await move(AARHUS, ODENSE);
    expect(await undo('zip')).toEqual(['zip overtaken']);
    const moved = { ...record };
    record.city = 'Odense';
    expect(await undo()).toEqual(['address edited', 'city edited', 'state edited', 'zip edited']);
    Object.assign(record, moved);
    expect(await undo()).toEqual(['address restored', 'city restored', 'state restored', 'zip restored']);
    expect(record).toEqual({ address: 'Østergade 1', zip: '8000', city: 'Aarhus C', state: 'Region Midtjylland' });
  });

  test('that was forgotten does not count as a value of the register', async () => {
    const { store, clock, record, move } = await openAddress(engine);
    await move(null, AARHUS);
    await store.write((tx) => forgetFacts(tx, { entity: ENTITY, field: 'city' }, [], clock.now));
    const known = await store.db.selectFrom('known_value').select('value').where('field', '=', 'address').execute();
    expect(known).toEqual([]);
    expect(record.zip).toBe('8000');
  });

  test('whose city the CRM respells follows the register, and is undone to its previous value', async () => {
    const { record, move, undo, differences } = await openAddress(engine, {
      respell: { city: (text) => text.toUpperCase() },
    });
    await move(null, AARHUS);
    await move(AARHUS, ODENSE);
    expect(record).toEqual({ address: 'Vestergade 1', zip: '5000', city: 'ODENSE C', state: null });
    expect(await differences()).toEqual([]);
    expect(await undo()).not.toContain('city edited');
    expect(record).toEqual({ address: 'Østergade 1', zip: '8000', city: 'AARHUS C', state: null });
  });
});
