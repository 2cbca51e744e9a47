import { describe, expect, it } from 'vitest';
import type { Policy, Preset } from '../../providers/provider.ts';
import { type FieldRules, reportNumber, resolveMapping } from '../../src/config/mapping.ts';
import type { ConfigProblem } from '../../src/config/schema/fill.ts';

const PRESET: Preset = [
  { field: 'name', property: 'Name', policy: 'tracked' },
  { field: 'name', property: 'Register_Name', policy: 'always', optional: true },
  { field: 'phone', property: 'Phone', policy: 'tracked' },
  { field: 'country', property: 'Country', policy: 'tracked', unless: 'CountryCode' },
];

const resolve = (rules: FieldRules, policy?: Policy) => {
  const problems: ConfigProblem[] = [];
  const rows = resolveMapping(PRESET, { fields: rules, policy }, 'fields', problems);
  return { rows, problems, short: rows.map((row) => `${row.field}:${row.property}:${row.policy}`) };
};

describe('the mapping', () => {
  it('is the whole preset by default', () => {
    expect(new Set(resolve({}).rows)).toEqual(new Set(PRESET));
  });

  it("replaces all of a field's preset properties if the field is named", () => {
    expect(resolve({ name: 'Trade_Name' }).short).toEqual([
      'name:Trade_Name:tracked',
      'country:Country:tracked',
      'phone:Phone:tracked',
    ]);
  });

  it('leaves out a field that is false', () => {
    expect(resolve({ name: false, country: false }).short).toEqual(['phone:Phone:tracked']);
  });

  it('takes a policy from the row, else from the preset of that property, else from the connection', () => {
    const rules: FieldRules = { name: [{ property: 'Name', policy: 'if-blank' }, 'Register_Name', 'Other'] };
    expect(resolve(rules, 'never').short).toEqual([
      'name:Name:if-blank',
      'name:Register_Name:always',
      'name:Other:never',
      'country:Country:never',
      'phone:Phone:never',
    ]);
  });

  it("applies the connection's policy to tracked properties of the preset, not to our own", () => {
    expect(resolve({}, 'if-blank').short).toContain('name:Name:if-blank');
    expect(resolve({}, 'if-blank').short).toContain('name:Register_Name:always');
  });

  it('lets no two fields write one property, whatever its case', () => {
    expect(resolve({ fax: 'phone' }).problems).toEqual([
      {
        path: 'fields.fax',
        message: 'Phone is already written by phone: choose another property, or set phone: false',
      },
    ]);
    expect(resolve({ fax: 'phone', phone: false }).problems).toEqual([]);
    expect(resolve({ fax: ['Fax', 'fax'] }).problems).toEqual([
      { path: 'fields.fax', message: 'fax is already written by fax: name it once' },
    ]);
  });

  it('writes no field if records are found by their number, whatever its case', () => {
    const problems: ConfigProblem[] = [];
    const rows = [
      { field: 'cvrNumber', property: 'CVR_Number__c', policy: 'tracked' },
      { field: 'cvrNumber', property: 'Other', policy: 'tracked' },
    ] as const;
    reportNumber(rows, undefined, 'fields', problems);
    expect(problems).toEqual([]);
    reportNumber(rows, 'cvr_number__C', 'fields', problems);
    expect(problems).toEqual([
      { path: 'fields.cvrNumber', message: expect.stringContaining('CVR_Number__c is what records are found by') },
    ]);
  });
});
