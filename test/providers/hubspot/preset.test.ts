import { describe, expect, it } from 'vitest';
import { FIELDS } from '../../../providers/fields.ts';
import { hubspotPreset } from '../../../providers/hubspot/preset.ts';
import { live, openBench } from './setup.ts';

const FITS: Readonly<Record<string, readonly string[]>> = {
  number: ['number'],
  integer: ['number'],
  date: ['date'],
  datetime: ['datetime'],
  boolean: ['boolean'],
};
const TEXTS = ['string', 'multiline', 'phone'];

describe('the preset', () => {
  it('writes standard properties as tracked, and own ones always but only if the account has them', () => {
    for (const { property, policy, optional } of hubspotPreset) {
      expect([property, policy, optional]).toEqual(
        property.startsWith('cvr_') ? [property, 'always', true] : [property, 'tracked', undefined],
      );
    }
  });

  it('names no natural person, and no property HubSpot acts upon by itself', () => {
    expect(hubspotPreset.filter(({ field }) => 'persons' in FIELDS[field])).toEqual([]);
    const properties = hubspotPreset.map(({ property }) => property);
    for (const left of ['domain', 'industry', 'lifecyclestage', 'founded_year', 'cvr_number', 'cvr_hold'])
      expect(properties).not.toContain(left);
    expect(new Set(properties).size).toBe(properties.length);
  });

  it('fits the types of a HubSpot account, property by property', async () => {
    const { connection } = await openBench();
    const properties = new Map((await connection.properties(live())).map((property) => [property.name, property]));
    for (const { field, property } of hubspotPreset) {
      expect(properties.get(property)?.writable, property).toBe(true);
      expect(FITS[FIELDS[field].kind] ?? TEXTS, property).toContain(properties.get(property)?.type);
    }
  });

  it('loses only own properties in an account without them', async () => {
    const { emulator, connection } = await openBench({
      missingProperties: hubspotPreset.filter((row) => row.optional).map((row) => row.property),
    });
    const names = new Set((await connection.properties(live())).map((property) => property.name));
    expect(hubspotPreset.filter((row) => !names.has(row.property)).every((row) => row.optional === true)).toBe(true);
    expect(() => emulator.add({ cvr_name: 'x' })).toThrow(/cvr_name/);
  });
});
