/** Salesforce's default mapping: always for our own fields, tracked for the standard ones. */
import type { FieldName } from '../fields.ts';
import type { Preset, PresetRow } from '../provider.ts';
import { REGISTER_FIELDS } from './write/custom-fields.ts';

const standard = (field: FieldName, property: string): PresetRow => ({ field, property, policy: 'tracked' });

/**
 * Omits `Industry` (Salesforce's own picklist, needs a value map), `AnnualRevenue` (people keep estimates there), and
 * every list of persons.
 */
export const salesforcePreset: Preset = [
  standard('name', 'Name'),
  standard('phone', 'Phone'),
  standard('fax', 'Fax'),
  standard('website', 'Website'),
  standard('street', 'BillingStreet'),
  standard('postalCode', 'BillingPostalCode'),
  standard('city', 'BillingCity'),
  // The code exists only with State and Country picklists; Salesforce then sets the text.
  { ...standard('countryCode', 'BillingCountryCode'), optional: true },
  { ...standard('country', 'BillingCountry'), unless: 'BillingCountryCode' },
  { ...standard('region', 'BillingStateCode'), optional: true },
  { ...standard('region', 'BillingState'), unless: 'BillingStateCode' },
  standard('purpose', 'Description'),
  standard('employees', 'NumberOfEmployees'),
  ...REGISTER_FIELDS.flatMap(({ field, name }): PresetRow[] =>
    field === undefined ? [] : [{ field, property: name, policy: 'always', optional: true, address: 'register' }],
  ),
];
