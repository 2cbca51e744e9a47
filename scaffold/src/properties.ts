/** The company's properties, and how their values are spelled. Pure. */
import type { Property, PropertyValue } from 'cvrsync/provider';

export const PROPERTIES: readonly Property[] = [
  { name: 'title', label: 'Title', type: 'string', writable: true, maxLength: 255 },
  { name: 'about', label: 'About', type: 'multiline', writable: true },
  { name: 'phone', label: 'Phone', type: 'phone', writable: true },
  { name: 'email', label: 'E-mail', type: 'email', writable: true },
  { name: 'staff', label: 'Staff', type: 'number', writable: true },
  { name: 'changed', label: 'Last changed', type: 'datetime', writable: false, readOnly: 'My CRM sets it' },
  { name: 'cvr', label: 'CVR number', type: 'string', writable: true, unique: true },
];

/** The values of the properties asked for, and no others; blank is null. */
export const toValues = (
  values: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Readonly<Record<string, PropertyValue>> => Object.fromEntries(names.map((name) => [name, toValue(values[name])]));

function toValue(value: unknown): PropertyValue {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return typeof value === 'string' && value !== '' ? value : null;
}
