/** Equality of property values after normalising: what a CRM re-spells by itself must not look like a person's edit. */
import { FIELDS, type FieldName } from '../../providers/fields.ts';
import type { Property, PropertyValue } from '../../providers/provider.ts';
import { isBlank } from './decide.ts';

/**
 * Builds the equality for one field in one property. Case counts, except where spelling has none
 * (e-mail, host names): a person who turned "MAGENTA APS" into "Magenta ApS" made an edit.
 */
export function sameFor(field: FieldName, property: Property): (a: PropertyValue, b: PropertyValue) => boolean {
  const normal = normaliser(field, property);
  return (a, b) => {
    if (isBlank(a) || isBlank(b)) return isBlank(a) && isBlank(b);
    return normal(a) === normal(b);
  };
}

function normaliser(field: FieldName, property: Property): (value: PropertyValue) => PropertyValue {
  const { kind } = FIELDS[field];
  if (property.type === 'number') return number;
  if (property.type === 'boolean') return (value) => String(value).toLowerCase();
  if (property.type === 'date') return (value) => String(value).slice(0, 10);
  if (property.type === 'datetime') return instant;
  if (property.type === 'enumeration') return (value) => String(value);
  if (property.type === 'phone' || kind === 'phone') return phone;
  if (property.type === 'url' || kind === 'url') return url;
  if (property.type === 'email' || kind === 'email') return (value) => String(value).trim().toLowerCase();
  if (kind === 'integer' || kind === 'number') return number;
  return text;
}

const text = (value: PropertyValue): string => String(value).normalize('NFC').replace(/\s+/gu, ' ').trim();

function number(value: PropertyValue): PropertyValue {
  const parsed = typeof value === 'number' ? value : Number(String(value).trim());
  return Number.isFinite(parsed) ? parsed : text(value);
}

function instant(value: PropertyValue): PropertyValue {
  const ms = Date.parse(String(value));
  return Number.isNaN(ms) ? text(value) : Math.floor(ms / 1000);
}

/** Danish numbers are equal with and without country code. */
function phone(value: PropertyValue): string {
  const spelled = text(value);
  const digits = spelled.replace(/\D/gu, '').replace(/^00/u, '');
  if (digits === '') return spelled;
  return digits.length === 10 && digits.startsWith('45') ? digits.slice(2) : digits;
}

function url(value: PropertyValue): string {
  const bare = text(value).replace(/^[a-z][a-z0-9+.-]*:\/\//iu, '').replace(/^www\./iu, '').replace(/\/+$/u, '');
  const slash = bare.indexOf('/');
  return slash < 0 ? bare.toLowerCase() : bare.slice(0, slash).toLowerCase() + bare.slice(slash);
}
