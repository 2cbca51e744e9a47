import { describe, expect, it } from 'vitest';
import type { Connection, Property, PropertyDefinition } from '../../../providers/provider.ts';
import {
  makeProperties,
  missingProperties,
  offerProperties,
  type ToDefine,
} from '../../../src/connector/crm/make-properties.ts';

const property = (name: string): Property => ({ name, label: name, type: 'string', writable: true });
const config = (more: Partial<ToDefine> = {}): ToDefine => ({
  name: 'crm',
  provider: {},
  mapping: [],
  values: {},
  match: undefined,
  hold: undefined,
  ...more,
});
const unused = async (): Promise<never> => {
  throw new Error('not asked for');
};
const connection = (define?: Connection['defineProperties']): Connection => ({
  check: unused,
  properties: unused,
  read: unused,
  update: unused,
  scan: unused,
  ...(define !== undefined && { defineProperties: define }),
});
const signal = new AbortController().signal;

describe('the properties an account lacks', () => {
  it('are those that the mapping, the match and the hold name, each once', () => {
    const mapping = [
      { field: 'name', property: 'title', policy: 'tracked' },
      { field: 'owners', property: 'owners', policy: 'always' },
      { field: 'employees', property: 'staff', policy: 'tracked' },
      { field: 'startDate', property: 'born', policy: 'tracked' },
      { field: 'status', property: 'staff', policy: 'tracked' },
    ] as const;
    const wanted = missingProperties(config({ mapping, match: 'cvr', hold: 'leave' }), [property('title')]);
    expect(wanted.map(({ name, type, unique }) => [name, type, unique])).toEqual([
      ['cvr', 'string', true],
      ['leave', 'boolean', undefined],
      ['owners', 'multiline', undefined],
      ['staff', 'number', undefined],
      ['born', 'date', undefined],
    ]);
    expect(wanted[2]?.label).toBe('CVR legal owners with their shares');
  });

  it('are not those that are never written, or that step back for another one', () => {
    const mapping = [
      { field: 'name', property: 'a', policy: 'never' },
      { field: 'country', property: 'b', policy: 'tracked', unless: 'code' },
    ] as const;
    expect(missingProperties(config({ mapping }), [property('code')])).toEqual([]);
  });

  it('are not the own ones of the CRM that a preset takes where they are', () => {
    const definition: PropertyDefinition = { name: 'cvr_country', label: 'Country', type: 'string' };
    const mapping = [
      { field: 'countryCode', property: 'BillingCountryCode', policy: 'tracked', optional: true },
      { field: 'country', property: 'cvr_country', policy: 'always', optional: true },
    ] as const;
    const asked = config({ mapping, provider: { definitions: [definition] } });
    expect(missingProperties(asked, [])).toEqual([definition]);
  });

  it('are made as the provider defines them where it does', () => {
    const definition: PropertyDefinition = { name: 'cvr', label: 'The number', type: 'string', unique: true };
    const asked = config({ match: 'cvr', provider: { definitions: [definition] } });
    expect(missingProperties(asked, [])).toEqual([definition]);
  });
});

describe('making properties', () => {
  const missing = [
    { name: 'a', label: 'A', type: 'string' },
    { name: 'b', label: 'B', type: 'number' },
    { name: 'c', label: 'C', type: 'date' },
  ] as const;

  it('is offered where the CRM can, and only where something is missing', () => {
    const able = connection(async () => []);
    expect(offerProperties('crm', able, missing)).toEqual([
      expect.objectContaining({
        found: '3 can be created: a, b, c',
        advice: expect.stringContaining('--create-properties'),
      }),
    ]);
    expect([...offerProperties('crm', able, []), ...offerProperties('crm', connection(), missing)]).toEqual([]);
  });

  it('says of each what became of it, with the reason of a refusal', async () => {
    const made = connection(async () => [
      { name: 'a', kind: 'created' },
      { name: 'b', kind: 'exists' },
      { name: 'c', kind: 'refused', reason: 'the token lacks crm.schemas.companies.write' },
    ]);
    const findings = await makeProperties('crm', made, missing, signal);
    expect(findings.map(({ level, subject }) => [level, subject])).toEqual([
      ['ok', 'crm a'],
      ['warn', 'crm b'],
      ['fail', 'crm c'],
    ]);
    expect(findings[2]?.found).toContain('crm.schemas.companies.write');
  });

  it('names what a person must make where the provider cannot', async () => {
    const findings = await makeProperties('crm', connection(), missing, signal);
    expect(findings).toEqual([expect.objectContaining({ level: 'warn', advice: 'create them in the CRM: a, b, c' })]);
    expect(await makeProperties('crm', connection(), [], signal)).toEqual([]);
  });
});
