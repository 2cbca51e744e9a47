/** The fields of Account from describe, which omits those that field-level security hides from the user. */
import type { Property } from '../../provider.ts';
import { objectOf, textOf } from '../client/json.ts';
import type { AccountRow } from '../client/update-call.ts';

/** Salesforce's type of each visible field, by name. */
export type SalesforceSchema = ReadonlyMap<string, string>;

export const schemaOf = (fields: readonly AccountRow[]): SalesforceSchema =>
  new Map(fields.map((field) => [String(field.name), String(field.type)]));

const TYPES: Readonly<Record<string, Property['type']>> = {
  string: 'string',
  encryptedstring: 'string',
  textarea: 'multiline',
  phone: 'phone',
  email: 'email',
  url: 'url',
  int: 'number',
  long: 'number',
  double: 'number',
  currency: 'number',
  percent: 'number',
  boolean: 'boolean',
  date: 'date',
  datetime: 'datetime',
  picklist: 'enumeration',
  combobox: 'enumeration',
};
const TEXTS: ReadonlySet<Property['type']> = new Set(['string', 'multiline', 'phone', 'email', 'url']);

/** A field as a property of the contract; an unrestricted picklist takes other values too. */
export function toProperty(field: AccountRow, _at: number, fields: readonly AccountRow[]): Property {
  const name = String(field.name);
  const type = TYPES[String(field.type)] ?? 'other';
  const { length, scale } = field;
  return {
    name,
    label: textOf(field.label) ?? name,
    type,
    writable: field.updateable === true && type !== 'other',
    ...readOnlyBy(field, type),
    maxLength: TEXTS.has(type) && typeof length === 'number' && length > 0 ? length : undefined,
    scale: type === 'number' && typeof scale === 'number' ? scale : undefined,
    money: field.type === 'currency' || undefined,
    currencyIn: field.type === 'currency' ? currencyOf(fields) : undefined,
    options: type === 'enumeration' ? optionsOf(field.picklistValues) : undefined,
    open: (type === 'enumeration' && field.restrictedPicklist !== true) || undefined,
    unique: field.unique === true || undefined,
  };
}

const RECORD_CURRENCY = 'CurrencyIsoCode';

/** In an org with several currencies each record has its own. */
const currencyOf = (fields: readonly AccountRow[]): string | undefined =>
  fields.some(({ name }) => name === RECORD_CURRENCY) ? RECORD_CURRENCY : undefined;

/** Why a field is read-only for all users; for other fields that are not writable, the user lacks the right. */
function readOnlyBy(field: AccountRow, type: Property['type']): Pick<Property, 'readOnly'> {
  if (field.calculated === true) return { readOnly: 'Salesforce calculates it by a formula' };
  if (field.autoNumber === true) return { readOnly: 'Salesforce numbers it by itself' };
  return type === 'other' ? { readOnly: `cvrsync writes no field of type ${String(field.type)}` } : {};
}

function optionsOf(values: unknown): NonNullable<Property['options']> {
  if (!Array.isArray(values)) return [];
  return values.flatMap((item: unknown) => {
    const { value, label, active } = objectOf(item) ?? {};
    return typeof value === 'string' && active !== false ? [{ value, label: textOf(label) ?? value }] : [];
  });
}
