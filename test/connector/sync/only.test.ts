/** `only`: the records of a CRM that cvrsync writes to; the others are left alone. */
import { describe, expect, test } from 'vitest';
import { checkOnly } from '../../../src/connector/crm/check-match.ts';
import { isHeld } from '../../../src/connector/crm/hold.ts';
import { narrowed, rulesOf } from '../../../src/connector/rules/rules.ts';
import { ENTITY, renamed } from '../../faults/company.ts';
import { startFixture } from '../../support/fixture.ts';
import { propertyOf } from '../property-of.ts';

const customers = { lifecyclestage: ['customer', 'opportunity'], country: 'Denmark' };

describe.each(['hubspot', 'salesforce'] as const)('in %s', (crm) => {
  const [name, stage] = crm === 'hubspot' ? ['name', 'lifecyclestage'] : ['Name', 'Type'];

  test('a record is written only while it matches `only`', async () => {
    const only = { [stage]: ['Customer'] };
    const fixture = await startFixture({ connections: { [crm]: { only } } });
    const mine = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS', [stage]: 'customer' });
    const other = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS', [stage]: 'lead' });
    await fixture.post(renamed('A ApS', 'B ApS'));
    await fixture.settled();
    expect(fixture[crm].get(mine)).toMatchObject({ [name]: 'B ApS' });
    expect(fixture[crm].get(other)).toMatchObject({ [name]: 'A ApS' });
    expect(await fixture.history(other)).toMatchObject([
      { rule: 'hold', detail: `${stage} is lead, which only does not name` },
    ]);
    fixture[crm].edit(other, { [stage]: 'customer' });
    await fixture.post(renamed('B ApS', 'C ApS', 9));
    await fixture.settled();
    expect(fixture[crm].get(other)).toMatchObject({ [name]: 'C ApS' });
  });
});

test.each([
  ['one of the values, in any case', { lifecyclestage: 'Customer', country: 'denmark' }, false],
  ['a list of which one is named', { lifecyclestage: 'lead;customer', country: 'Denmark' }, false],
  ['another value', { lifecyclestage: 'lead', country: 'Denmark' }, true],
  ['one property that matches and one that does not', { lifecyclestage: 'customer', country: 'Sweden' }, true],
  ['nothing', { lifecyclestage: null, country: 'Denmark' }, true],
])('a record with %s', (_, properties, held) => {
  const only = { ...customers, country: [customers.country] };
  expect(isHeld({ hold: undefined, only }, properties, 0)).toBe(held);
});

test('a blank value can be named, and numbers and checkboxes by their text', () => {
  const held = (only: Record<string, string[]>, properties: Record<string, string | number | boolean | null>) =>
    isHeld({ hold: undefined, only }, properties, 0);
  expect(held({ owner: [''] }, { owner: null })).toBe(false);
  expect(held({ owner: ['7'], active: ['true'] }, { owner: 7, active: true })).toBe(false);
});

test('a new filter applies at once, because it makes cvrsync write less; its removal waits', () => {
  const rules = rulesOf({ mapping: [], values: {}, hold: undefined, persons: false });
  const filtered = { ...rules, only: { country: ['Denmark'] } };
  expect(narrowed(rules, filtered).only).toEqual(filtered.only);
  expect(narrowed(filtered, rules).only).toEqual(filtered.only);
});

test('check names a property that the CRM lacks, and a value that is not one of its options', () => {
  const options = [{ value: 'customer', label: 'Customer' }];
  const schema = new Map([['stage', propertyOf('enumeration', { name: 'stage', options })]]);
  const check = (only: Record<string, string[]>) => checkOnly({ name: 'hubspot', only }, schema);
  expect(check({ stage: ['Customer'] })).toMatchObject([{ level: 'ok' }]);
  expect(check({ stage: ['client'] })).toMatchObject([{ level: 'warn', found: 'stage has no option client' }]);
  expect(check({ Stage: ['customer'] })).toMatchObject([
    { level: 'fail', found: 'the CRM has no property Stage; did you mean stage?' },
  ]);
});
