/** Texts composed of several fields, and texts in one case: what they hold, when they are decided, and who wrote them. */
import { describe, expect, test } from 'vitest';
import { compose, fieldsOf, unfitText } from '../../../providers/composed.ts';
import type { FieldName, FieldValue } from '../../../providers/fields.ts';
import type { PresetRow, PropertyValue } from '../../../providers/provider.ts';
import { type PlanInput, planRecord } from '../../../src/connector/decide/plan.ts';
import { ENTITY, renamed, reported } from '../../faults/company.ts';
import { startFixture } from '../../support/fixture.ts';
import { propertyOf } from '../property-of.ts';

const TEXT = '{street}, {postalCode} {city}';
const ADDRESS = { street: 'Torvet 1', postalCode: '8000', city: 'Aarhus C' };

describe('compose', () => {
  const of = (values: Partial<Record<FieldName, FieldValue>>, text = TEXT) =>
    compose(text, (field) => values[field] ?? null);

  test.each([
    [ADDRESS, 'Torvet 1, 8000 Aarhus C'],
    [{ ...ADDRESS, street: null }, '8000 Aarhus C'],
    [{ ...ADDRESS, postalCode: null, city: '' }, 'Torvet 1'],
    [{ ...ADDRESS, postalCode: null }, 'Torvet 1, Aarhus C'],
    [{}, null],
  ])('of %j is %j', (values, expected) => {
    expect(of(values)).toBe(expected);
  });

  test('keeps the separators in values of the register', () => {
    expect(of({ ...ADDRESS, street: 'Torvet 1, , 2. sal' })).toBe('Torvet 1, , 2. sal, 8000 Aarhus C');
  });

  test('of no field is the same text for every company', () => {
    expect(of({}, 'CVR')).toBe('CVR');
  });
});

test('a mapping reads the fields that its texts name', () => {
  const rows = [
    { field: 'name', property: 'name' },
    { field: 'composed', property: 'full', text: '{name} ({city})' },
  ] as const;
  expect(fieldsOf(rows)).toEqual(['name', 'city']);
});

test.each([
  ['{street} {town}', '{town} is not a field'],
  ['{composed}', '{composed} is not a field'],
  [TEXT, undefined],
])('the text %j is unfit because %j', (text, reason) => {
  expect(unfitText(text)).toBe(reason);
});

describe('a composed property', () => {
  const row: PresetRow = { field: 'composed', property: 'full', policy: 'tracked', text: TEXT };
  const fact = (field: FieldName, scalar: PropertyValue, seq = 1) =>
    [field, { entity: ENTITY, field, clock: '2026', seq, value: { scalar } }] as const;
  const planned = (more: Partial<PlanInput> = {}) =>
    planRecord({
      ...{ entity: ENTITY, mapping: [row], values: {}, persons: false, wholes: [], known: () => [], trust: 'crm' },
      schema: new Map([['full', propertyOf('string', { name: 'full' })]]),
      facts: new Map([fact('street', 'Torvet 1'), fact('postalCode', '8000', 7), fact('city', 'Aarhus C')]),
      ...{ remembered: new Map(), overrides: new Map(), crm: { full: null } },
      ...more,
    })[0];

  test('has the clock of its newest field', () => {
    expect(planned()).toMatchObject({ action: 'write', now: 'Torvet 1, 8000 Aarhus C', seq: 7, field: 'composed' });
  });

  test('is not decided while a field is unknown', () => {
    expect(planned({ facts: new Map([fact('street', 'Torvet 1')]) })).toBeUndefined();
  });

  test('replaces the text of an earlier address, and keeps what a person wrote', () => {
    const wholes = [{ street: 'Gaden 2', postalCode: '9000', city: 'Aalborg' }];
    expect(planned({ wholes, crm: { full: 'Gaden 2, 9000 Aalborg' } })).toMatchObject({
      action: 'write',
      rule: 'register',
    });
    expect(planned({ wholes, crm: { full: 'Gaden 2, 8000 Aarhus C' } })).toMatchObject({
      action: 'keep',
      rule: 'edited',
    });
  });

  test('keeps a mixture of two addresses, and recognises an earlier address that lacked a part', () => {
    const wholes = [{ coName: null, street: 'Gaden 2', postalCode: '9000', city: 'Aalborg' }];
    const known = (field: FieldName): readonly FieldValue[] => (field === 'street' ? ['Gaden 2'] : []);
    const mixed = { crm: { full: 'Gaden 2, 8000 Aarhus C' }, wholes, known };
    expect(planned(mixed)).toMatchObject({ action: 'keep', rule: 'edited' });
    const mapping: readonly PresetRow[] = [{ ...row, text: '{coName}, {street}' }];
    const facts = new Map([fact('street', 'Torvet 1'), fact('coName', 'c/o Bo')]);
    expect(planned({ mapping, facts, wholes, crm: { full: 'Gaden 2' } })).toMatchObject({
      action: 'write',
      rule: 'register',
    });
  });

  test('is not decided while a boolean field is unknown', () => {
    const mapping: readonly PresetRow[] = [{ ...row, text: '{street} {advertisingProtected}' }];
    const facts = new Map([fact('street', 'Torvet 1'), fact('advertisingProtected', null)]);
    expect(planned({ mapping, facts })).toBeUndefined();
  });

  test('in capitals is compared with its case, and written in capitals', () => {
    const mapping: readonly PresetRow[] = [{ ...row, case: 'upper' }];
    expect(planned({ mapping })).toMatchObject({ action: 'write', now: 'TORVET 1, 8000 AARHUS C' });
    expect(planned({ mapping, crm: { full: 'TORVET 1, 8000 AARHUS C' } })).toMatchObject({ rule: 'same' });
  });
});

test('a change of one field rewrites the text in the CRM, and an edit of it is kept', async () => {
  const composed = { property: 'full_text', text: '{name}, {status}' };
  const fixture = await startFixture({
    connections: { hubspot: { fields: { composed, name: { property: 'name', case: 'upper' } } } },
    hubspot: { properties: [{ name: 'full_text' }] },
  });
  const id = await fixture.addLinked('hubspot', ENTITY, {});
  await fixture.post(renamed('A ApS', 'Børge ApS'));
  await fixture.post(reported({ status: { before: null, after: 'NORMAL' } }, 9));
  await fixture.settled();
  expect(fixture.hubspot.get(id)).toMatchObject({ name: 'BØRGE APS', full_text: 'Børge ApS, NORMAL' });
  fixture.hubspot.edit(id, { full_text: 'mine' });
  await fixture.post(reported({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } }, 10));
  await fixture.settled();
  expect(fixture.hubspot.get(id)).toMatchObject({ full_text: 'mine' });
});
