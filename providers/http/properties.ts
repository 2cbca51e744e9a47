/** What an API of one's own holds: nobody can ask it, so the settings and our own field names say. Pure. */
import { FIELD_NAMES, FIELDS, type FieldKind, KIND_TYPES } from '../fields.ts';
import type { Preset, Property, PropertyValue } from '../provider.ts';
import type { HttpSettings } from './settings.ts';

/** Where the CVR number goes, as in the contract's own sample. */
const NUMBER_KEY = 'cvr';

/** Nobody makes these: an API may well know what a phone number and an address are. */
const TYPES: Readonly<Record<FieldKind, Property['type']>> = { ...KIND_TYPES, phone: 'phone', email: 'email' };

/**
 * Every field under its own name, but for the number, which has its own key, those that name persons, those that are never
 * known in full, what only this product has a use for, and the time of the newest change: with it every change would be a
 * message, also one of fields that are not sent.
 */
export const httpPreset: Preset = FIELD_NAMES.filter(
  (field) =>
    FIELDS[field].persons !== true &&
    FIELDS[field].partial !== true &&
    field !== 'registerChangedAt' &&
    field !== 'dashboardUrl' &&
    field !== 'cvrNumber' &&
    field !== 'region',
).map((field) => ({ field, property: field, policy: 'tracked' }));

const NAMED: readonly Property[] = [
  { name: NUMBER_KEY, label: 'CVR number', type: 'string', writable: true, unique: true },
  ...FIELD_NAMES.map(
    (name): Property => ({ name, label: FIELDS[name].about, type: TYPES[FIELDS[name].kind], writable: true }),
  ),
];

/** The properties by name: our own fields, and what the settings add or say otherwise. */
export function propertiesOf({ properties }: Pick<HttpSettings, 'properties'>): ReadonlyMap<string, Property> {
  const stated = properties.map(
    ({ name, type, maxLength, readOnly }): Property => ({
      name,
      label: name,
      type,
      writable: !readOnly,
      ...(maxLength !== undefined && { maxLength }),
    }),
  );
  return new Map([...NAMED, ...stated].map((property) => [property.name, property]));
}

/** A value as the API is sent it: a number where the property is one. */
export const toJson = (value: PropertyValue, property: Property | undefined): PropertyValue =>
  property?.type === 'number' && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;

/** A value as the contract spells it, from whatever the API gave; blank where it is neither text, number nor flag. */
export function fromJson(value: unknown, property: Property | undefined): PropertyValue {
  if (value === '' || !['string', 'number', 'boolean'].includes(typeof value)) return null;
  const { type = 'string' } = property ?? {};
  if (type === 'boolean') return value === true || /^(true|1)$/i.test(String(value));
  if (type !== 'number') return String(value);
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}
