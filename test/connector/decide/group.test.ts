/** The parts of an address are written, kept and set aside as one. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { FieldName } from '../../../providers/fields.ts';
import { hubspot } from '../../../providers/hubspot/provider.ts';
import type { Policy, PresetRow, Property, PropertyValue } from '../../../providers/provider.ts';
import { salesforce } from '../../../providers/salesforce/provider.ts';
import { addressesIn } from '../../../src/connector/decide/group.ts';
import type { PropertyMemory } from '../../../src/connector/decide/memory.ts';
import { type PlanInput, planRecord } from '../../../src/connector/decide/plan.ts';
import type { Planned } from '../../../src/connector/decide/planned.ts';
import { addressOf, type Fact } from '../../../src/connector/facts/fact.ts';
import type { Override } from '../../../src/connector/overrides/override.ts';
import { ENTITY } from '../../faults/company.ts';
import { propertyOf } from '../property-of.ts';

const ROWS = [
  ['street', 'address'],
  ['coName', 'address2'],
  ['postalCode', 'zip'],
  ['city', 'city'],
  ['country', 'country'],
  ['region', 'state'],
] as const satisfies readonly (readonly [FieldName, string])[];
type Name = (typeof ROWS)[number][1];
type Record_ = Readonly<Partial<Record<Name, PropertyValue>>>;

const mappingOf = (policies: Readonly<Partial<Record<Name, Policy>>> = {}): readonly PresetRow[] =>
  ROWS.map(([field, property]) => ({ field, property, policy: policies[property] ?? 'tracked' }));

const address = (street: string, postalCode: string, city: string) => ({
  street,
  postalCode,
  city,
  country: 'Denmark',
});
const AARHUS = address('Østergade 1', '8000', 'Aarhus C');
const ODENSE = address('Vestergade 9', '5000', 'Odense C');
const KOLDING = address('Havnegade 2', '6000', 'Kolding');
type Address = typeof AARHUS;

const wholeOf = (parts: Address) =>
  addressOf((field) => (field === 'coName' ? null : Object.entries(parts).find(([name]) => name === field)?.[1]));

const NOTHING: PropertyMemory = {
  ...{ written: undefined, stored: undefined, writtenAt: 0, restored: undefined, refused: undefined },
  ...{ trusted: false, kept: undefined, overwritten: undefined, pending: [] },
};
const written = (values: Record_): PlanInput['remembered'] =>
  new Map(Object.entries(values).map(([name, value]) => [name, { ...NOTHING, written: value }]));

interface Case extends Partial<Omit<PlanInput, 'crm'>> {
  readonly now?: Address;
  readonly before?: readonly Address[];
  readonly properties?: Readonly<Partial<Record<Name, Partial<Property>>>>;
}

/** What is planned for a record that holds this. */
function plan(crm: Record_, { now = ODENSE, before = [AARHUS], properties = {}, ...more }: Case = {}) {
  const fact = (field: FieldName, scalar: string | null): [FieldName, Fact] => [
    field,
    { entity: ENTITY, field, clock: '2026', seq: 7, value: { scalar } },
  ];
  const values = [...Object.entries(now), ['coName', null]] as [FieldName, string | null][];
  return planRecord({
    entity: ENTITY,
    mapping: mappingOf(),
    values: {},
    persons: false,
    schema: new Map(ROWS.map(([, name]) => [name, propertyOf('string', { name, ...properties[name] })])),
    facts: new Map(values.map(([field, scalar]) => fact(field, scalar))),
    known: (field) =>
      [...before, now].flatMap((each) =>
        Object.entries(each).flatMap(([name, value]) => (name === field ? value : [])),
      ),
    wholes: [...before, now].map(wholeOf),
    remembered: new Map(),
    overrides: new Map(),
    trust: 'crm',
    crm: { address: null, address2: null, zip: null, city: null, country: null, state: null, ...crm },
    ...more,
  });
}

/** What the record holds after the plan. */
const outcome = (crm: Record_, planned: readonly Planned[]): Record_ => ({
  ...crm,
  ...Object.fromEntries(planned.flatMap((each) => (each.action === 'write' ? [[each.property, each.now]] : []))),
});
const rules = (planned: readonly Planned[]) =>
  Object.fromEntries(planned.map(({ property, action, rule }) => [property, `${action} ${rule}`]));
const held = (parts: Address): Record_ => ({
  ...{ address: parts.street, zip: parts.postalCode, city: parts.city, country: parts.country },
});
const writes = (planned: readonly Planned[]) => planned.filter(({ action }) => action === 'write');

describe('an address that a person wrote or changed in part is kept', () => {
  it.each<[string, Record_]>([
    ['a town alone', { city: 'København' }],
    ['a post box and its code', { address: 'Postboks 12', zip: '2100' }],
    ['another street in the address before', { ...held(AARHUS), address: 'Visitgade 5, 2. sal' }],
    ['another street in the address of now', { ...held(ODENSE), address: 'Visitgade 5, 2. sal' }],
    ['a part of each of two addresses of the register', { address: AARHUS.street, zip: KOLDING.postalCode }],
    ['a c/o that the register never had', { ...held(AARHUS), address2: 'c/o Anne Berg' }],
  ])('%s', (_, crm) => {
    const planned = plan({ state: 'Region Midtjylland', ...crm }, { before: [AARHUS, KOLDING] });
    expect(writes(planned)).toEqual([]);
    const kept = planned.filter(({ action }) => action === 'keep');
    expect(kept.length).toBeGreaterThan(0);
    expect(new Set(kept.map(({ keptWith }) => keptWith))).toEqual(new Set([kept[0]?.property]));
  });
});

describe('an address of the register is written as a whole', () => {
  it.each<[string, Record_, Partial<Case>]>([
    ['over a blank one', {}, {}],
    ['over the one before', held(AARHUS), {}],
    ['where all that is filled agrees with the one of now', { zip: '5000', country: 'Danmark' }, {}],
    ['where all that is filled agrees with one before', { zip: '8000', city: 'Aarhus C' }, {}],
    ['over what we wrote, whatever the register had', held(KOLDING), { remembered: written(held(KOLDING)) }],
    [
      'over what we wrote beside what was there already',
      held({ ...KOLDING, country: 'Danmark' }),
      { remembered: written({ address: KOLDING.street, zip: KOLDING.postalCode, city: KOLDING.city }) },
    ],
    ['over another one, once, where the link trusts the register', held(KOLDING), { trust: 'register' }],
  ])('%s', (_, crm, more) => {
    const result = outcome(crm, plan(crm, more));
    expect({ ...result, country: 'Denmark' }).toMatchObject(held(ODENSE));
  });

  it('clears the region of the previous address, and keeps that of the same place', () => {
    const moved = plan({ ...held(AARHUS), state: 'Region Midtjylland' });
    expect(moved.find(({ property }) => property === 'state')).toMatchObject({ action: 'write', now: null });
    const next = plan(
      { ...held(ODENSE), address: AARHUS.street, state: 'Fyn' },
      { before: [{ ...ODENSE, street: AARHUS.street }] },
    );
    expect(rules(next)).toMatchObject({ address: 'write register' });
    expect(next.some(({ property }) => property === 'state')).toBe(false);
    const filled = plan({ zip: '5000', state: 'Fyn' });
    expect(filled.some(({ property }) => property === 'state')).toBe(false);
  });

  it('is not written if the CRM refuses one of its parts', () => {
    const parts = writes(plan(held(AARHUS)));
    for (const { property, needs = [] } of parts)
      expect([property, ...needs].toSorted()).toEqual(parts.map((part) => part.property).toSorted());
  });
});

describe('an address that the CRM cannot hold is set aside as a whole', () => {
  it.each<[string, Address, Partial<Record<Name, Partial<Property>>>]>([
    ['a town that is too long', { ...ODENSE, city: 'x'.repeat(41) }, { city: { maxLength: 40 } }],
    [
      'a country that is not in the list',
      { ...ODENSE, country: 'Sweden' },
      { country: { type: 'enumeration', options: [{ value: 'Denmark', label: 'Denmark' }] } },
    ],
    ['a street that cannot be written', ODENSE, { address: { writable: false } }],
  ])('%s', (_, now, properties) => {
    const planned = plan(held(AARHUS), { now, properties });
    expect(writes(planned)).toEqual([]);
    expect(planned.filter(({ action }) => action === 'set-aside')).toHaveLength(1);
    expect(planned.filter(({ rule }) => rule === 'together').length).toBeGreaterThan(0);
  });

  it('is written if that part is absent, or blank and not to be written', () => {
    const properties = { address2: { writable: false } };
    expect(outcome(held(AARHUS), plan(held(AARHUS), { properties }))).toMatchObject(held(ODENSE));
  });
});

describe("a person's override of one part applies to the address", () => {
  const override = (kind: Override['kind'], seen?: string): Override => ({
    ...{ kind, once: kind === 'release', until: null, reason: null, createdAt: 0 },
    ...(seen !== undefined && { seen: JSON.stringify(seen) }),
  });
  const mine = { ...held(AARHUS), address: 'Visitgade 5' };

  it('a hold of one part holds all', () => {
    const planned = plan(held(AARHUS), { overrides: new Map([['city', override('hold')]]) });
    expect(rules(planned)).toMatchObject({ address: 'skip held', zip: 'skip held', city: 'skip held' });
  });

  it('a release of one part releases all', () => {
    const planned = plan(mine, { overrides: new Map([['city', override('release')]]) });
    expect(outcome(mine, planned)).toMatchObject(held(ODENSE));
  });

  it('a release of a seen value applies only to that value', () => {
    const seen = (values: Record_) =>
      new Map(Object.entries(values).map(([name, value]) => [name, override('release', String(value))]));
    const { country: _, ...parts } = mine;
    expect(outcome(mine, plan(mine, { overrides: seen(parts) }))).toMatchObject(held(ODENSE));
    expect(writes(plan(mine, { overrides: seen({ ...parts, address: 'Visitgade 4' }) }))).toEqual([]);
    expect(writes(plan({ ...mine, address2: 'c/o Anne' }, { overrides: seen(parts) }))).toEqual([]);
  });
});

describe('policies within one address', () => {
  it('a part under always follows the others, and does not count as an edit', () => {
    const mapping = mappingOf({ city: 'always' });
    const town = { ...held(AARHUS), city: 'Byen' };
    expect(outcome(town, plan(town, { mapping }))).toMatchObject(held(ODENSE));
    const mine = { ...held(AARHUS), address: 'Visitgade 5' };
    expect(writes(plan(mine, { mapping }))).toEqual([]);
  });

  it('under always all is written', () => {
    const mapping = mappingOf(Object.fromEntries(ROWS.map(([, name]) => [name, 'always'])));
    const mine = { address: 'Visitgade 5', zip: '2100', state: 'CA', country: 'US' };
    expect(outcome(mine, plan(mine, { mapping }))).toEqual({ ...held(ODENSE), state: null });
  });

  it('under if-blank a part with another value keeps all, without a difference', () => {
    const mapping = mappingOf(Object.fromEntries(ROWS.map(([, name]) => [name, 'if-blank'])));
    expect(new Set(Object.values(rules(plan({ city: 'København' }, { mapping }))))).toContain('skip filled');
    expect(writes(plan({ city: 'København' }, { mapping }))).toEqual([]);
    expect(outcome({ city: 'Odense C' }, plan({ city: 'Odense C' }, { mapping }))).toMatchObject(held(ODENSE));
  });
});

test('two addresses of a record are decided separately, by the first and second property of each field', () => {
  const rows: readonly PresetRow[] = [
    { field: 'street', property: 'a', policy: 'tracked' },
    { field: 'street', property: 'b', policy: 'tracked' },
    { field: 'city', property: 'c', policy: 'tracked' },
    { field: 'city', property: 'd', policy: 'tracked' },
  ];
  expect([...addressesIn(rows)]).toEqual([
    ['a', '0'],
    ['b', '1'],
    ['c', '0'],
    ['d', '1'],
  ]);
});

test.each([
  [hubspot.preset, ['address', 'address2', 'zip', 'city', 'state', 'country'], 'cvr_street'],
  [
    salesforce.preset,
    ['BillingStreet', 'BillingPostalCode', 'BillingCity', 'BillingCountryCode', 'BillingCountry', 'BillingState'],
    undefined,
  ],
] as const)(
  'the presets have their standard address, and the one of the register beside it',
  (preset, standard, own) => {
    const addresses = addressesIn(preset);
    expect(new Set(standard.map((property) => addresses.get(property)))).toEqual(new Set(['0']));
    if (own !== undefined) expect(addresses.get(own)).toBe('register');
  },
);

test('a write never creates an address that was neither in the record nor in the register', () => {
  const part = (name: keyof Address) =>
    fc.constantFrom<PropertyValue>(null, AARHUS[name], ODENSE[name], KOLDING[name], 'another');
  const record = fc.record({
    ...{ address: part('street'), zip: part('postalCode'), city: part('city'), country: part('country') },
    state: fc.constantFrom<PropertyValue>(null, 'CA'),
  });
  const policies = fc.record(
    Object.fromEntries(ROWS.map(([, name]) => [name, fc.constantFrom<Policy>('tracked', 'if-blank', 'always')])),
  );
  fc.assert(
    fc.property(record, policies, fc.boolean(), (crm, some, trusts) => {
      const planned = plan(crm, {
        before: [AARHUS, KOLDING],
        mapping: mappingOf(some),
        trust: trusts ? 'register' : 'crm',
      });
      const { state: _, ...result } = outcome(crm, planned);
      const { state: __, ...before } = crm;
      const isNew = JSON.stringify(result) !== JSON.stringify(before);
      if (isNew) expect(result).toEqual(held(ODENSE));
      else expect(outcome(crm, planned).state).toEqual(crm.state);
    }),
    { numRuns: 300 },
  );
});
