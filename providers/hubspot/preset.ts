/** HubSpot's default mapping: always for our own properties, tracked for the standard ones. */
import type { FieldName } from '../fields.ts';
import type { Preset, PresetRow } from '../provider.ts';
import { REGISTER_PROPERTIES } from './write/custom-properties.ts';

const standard = (field: FieldName, property: string): PresetRow => ({ field, property, policy: 'tracked' });

/**
 * Omits `domain` (setting it links contacts), `industry` (HubSpot's own enumeration, needs a value map), `founded_year`
 * (a year, whose type differs by account), `lifecyclestage`, and every list of persons.
 */
export const hubspotPreset: Preset = [
  standard('name', 'name'),
  standard('phone', 'phone'),
  standard('website', 'website'),
  standard('street', 'address'),
  standard('coName', 'address2'),
  standard('postalCode', 'zip'),
  standard('city', 'city'),
  standard('country', 'country'),
  standard('region', 'state'),
  standard('purpose', 'description'),
  standard('employees', 'numberofemployees'),
  ...REGISTER_PROPERTIES.flatMap(({ field, name }): PresetRow[] =>
    field === undefined ? [] : [{ field, property: name, policy: 'always', optional: true, address: 'register' }],
  ),
];
