/** Equality of property values after normalising: a CRM's own spelling must not look like a person's edit. */
import { FIELDS, type FieldName } from '../../../providers/fields.ts';
import type { Property, PropertyValue } from '../../../providers/provider.ts';
import { internationalPhone } from '../../protocol/danish/phone.ts';
import { countryCodeOf } from '../../protocol/text/country.ts';
import { normaliseTime } from '../../protocol/text/time.ts';
import { withoutSlash } from '../../protocol/text/trim.ts';
import { isBlank } from './decide.ts';

type Normal = (value: PropertyValue) => string | number;

/**
 * The equality for one field in one property. Case counts, except in e-mail addresses and host names: a person who
 * turned "NORDLYS APS" into "Nordlys ApS" made an edit.
 */
export function sameFor(field: FieldName, property: Property): (a: PropertyValue, b: PropertyValue) => boolean {
  const normal = normaliser(field, property);
  return (a, b) => {
    // What most comparisons of a sync are about: the rest takes long.
    if (a === b) return true;
    if (isBlank(a) || isBlank(b)) return isBlank(a) && isBlank(b);
    return normal(a) === normal(b);
  };
}

function normaliser(field: FieldName, property: Property): Normal {
  const { kind } = FIELDS[field];
  if (property.type === 'number') return number;
  if (property.type === 'boolean' || kind === 'boolean') return (value) => text(value).toLowerCase();
  if (property.type === 'date') return (value) => text(value).slice(0, 10);
  if (property.type === 'datetime') return second;
  if (isCountry(field)) return country;
  if (property.type === 'enumeration') return text;
  if (property.type === 'phone' || kind === 'phone') return (value) => text(internationalPhone(String(value)));
  if (property.type === 'url' || kind === 'url') return url;
  if (property.type === 'email' || kind === 'email') return (value) => text(value).toLowerCase();
  if (kind === 'integer' || kind === 'number') return number;
  return text;
}

/** A country's code, Danish name and English name are one value. */
export const isCountry = (field: FieldName): boolean => field === 'country' || field === 'countryCode';

const country = (value: PropertyValue): string => countryCodeOf(String(value)) ?? text(value);

const text = (value: PropertyValue): string => String(value).normalize('NFC').replace(/\s+/gu, ' ').trim();

/** A single separator may group thousands or begin a fraction; two or more of a kind group thousands. */
const DANISH_GROUPS = /^[+-]?\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?$/u;
const ENGLISH_GROUPS = /^[+-]?\d{1,3}(?:,\d{3}){2,}(?:\.\d+)?$/u;

function number(value: PropertyValue): string | number {
  const spelled = String(value).replace(/\s/gu, '');
  const plain = DANISH_GROUPS.test(spelled)
    ? spelled.replaceAll('.', '').replace(',', '.')
    : ENGLISH_GROUPS.test(spelled)
      ? spelled.replaceAll(',', '')
      : spelled;
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/iu.test(plain) ? Number(plain) : text(value);
}

/** CRMs store instants to the second at best. */
function second(value: PropertyValue): string | number {
  const instant = normaliseTime(String(value));
  return instant === undefined ? text(value) : Math.floor(Date.parse(instant) / 1000);
}

function url(value: PropertyValue): string {
  const bare = text(value)
    .replace(/^[a-z][a-z0-9+.-]*:\/\//iu, '')
    .replace(/^www\./iu, '');
  const end = bare.search(/[/?#]/u);
  const host = end < 0 ? bare : bare.slice(0, end);
  return `${host.toLowerCase()}${end < 0 ? '' : withoutSlash(bare.slice(end))}`;
}
