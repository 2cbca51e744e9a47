/** The properties of an API of your own: it has no schema to read, so they come from the settings and our field names. Pure. */
import { FIELD_NAMES, FIELDS, type FieldKind, KIND_TYPES } from '../fields.ts';
import type { Preset, Property, PropertyValue } from '../provider.ts';
import type { HttpSettings } from './http-settings.ts';

/** The name that the specification's sample gives the CVR number. */
const NUMBER_KEY = 'cvr';

/** A CRM account gets plain text properties, but an API may know phone numbers and e-mail addresses. */
const TYPES: Readonly<Record<FieldKind, Property['type']>> = { ...KIND_TYPES, phone: 'phone', email: 'email' };

/**
 * Maps every field to its own name, except: the number, which has its own key; fields that name persons, are never
 * known in full or serve only this product; and the time of the newest change, which would make every change a message,
 * even of fields that are not sent.
 */
export const httpPreset: Preset = FIELD_NAMES.filter(
  (field) =>
    FIELDS[field].persons !== true &&
    FIELDS[field].partial !== true &&
    field !== 'registerChangedAt' &&
    field !== 'dashboardUrl' &&
    field !== 'composed' &&
    field !== 'cvrNumber' &&
    field !== 'region',
).map((field) => ({ field, property: field, policy: 'tracked' }));

const NAMED: readonly Property[] = [
  { name: NUMBER_KEY, label: 'CVR number', type: 'string', writable: true, unique: true },
  ...FIELD_NAMES.map(
    (name): Property => ({ name, label: FIELDS[name].about, type: TYPES[FIELDS[name].kind], writable: true }),
  ),
];

/** Our own fields, and what the settings add or override. */
export function propertiesOf({ properties }: Pick<HttpSettings, 'properties'>): ReadonlyMap<string, Property> {
  const stated = properties.map(
    ({ name, type, maxLength, readOnly }): Property => ({
      name,
      label: name,
      type,
      writable: !readOnly,
      maxLength,
    }),
  );
  return new Map([...NAMED, ...stated].map((property) => [property.name, property]));
}

export const toJson = (value: PropertyValue, property: Property | undefined): PropertyValue =>
  property?.type === 'number' && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;

/** A value as the contract spells it; blank if the API gave neither text, number nor flag. */
export function fromJson(value: unknown, property: Property | undefined): PropertyValue {
  if (value === '' || !['string', 'number', 'boolean'].includes(typeof value)) return null;
  const { type = 'string' } = property ?? {};
  if (type === 'boolean') return value === true || /^(true|1)$/i.test(String(value));
  if (type !== 'number') return String(value);
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}
