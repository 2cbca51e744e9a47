/** render: a field's value as one CRM property takes it, or the reason why it cannot. */
import { FIELDS, type FieldName, type FieldValue, type Member } from '../../providers/fields.ts';
import type { Property, PropertyValue } from '../../providers/provider.ts';

export type Rendered =
  | { readonly ok: true; readonly value: PropertyValue }
  | { readonly ok: false; readonly reason: string };

/** Register value → what the CRM calls it; a key may end in `*` to stand for every value that starts so. */
export type ValueMap = Readonly<Record<string, PropertyValue>>;

const done = (value: PropertyValue): Rendered => ({ ok: true, value });
const refuse = (reason: string): Rendered => ({ ok: false, reason });

/**
 * Renders a value for a property: value map first, then type, options and length.
 * Free text and lists are cut to the property's length; anything shorter that does not fit is refused,
 * since half a name or half a web address is a wrong one.
 */
export function render(field: FieldName, value: FieldValue, property: Property, values?: ValueMap): Rendered {
  if (value === null) return done(null);
  const mapped = values === undefined ? undefined : lookUp(values, value);
  if (property.type === 'enumeration') return renderOption(mapped ?? value, property);
  if (mapped !== undefined) return fit(mapped, field, property);
  if (isList(value)) return renderList(value, property);
  return fit(value, field, property);
}

const isList = (value: FieldValue): value is readonly Member[] => Array.isArray(value);

function lookUp(values: ValueMap, value: FieldValue): PropertyValue | undefined {
  const key = isList(value) ? value.map((member) => member.id).join(', ') : String(value);
  if (Object.hasOwn(values, key)) return values[key];
  const prefixes = Object.keys(values).filter((each) => each.endsWith('*') && key.startsWith(each.slice(0, -1)));
  const longest = prefixes.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : values[longest];
}

function renderOption(value: FieldValue, property: Property): Rendered {
  if (value === null) return done(null);
  const wanted = isList(value) ? joined(value) : String(value);
  const options = property.options ?? [];
  const fold = wanted.toLowerCase();
  const option =
    options.find((each) => each.value === wanted) ??
    options.find((each) => each.value.toLowerCase() === fold || each.label.toLowerCase() === fold);
  if (option !== undefined) return done(option.value);
  if (property.open === true) return limit(wanted, property, false);
  return refuse(`"${wanted}" is not among the options of ${property.name}; add the option or a value map`);
}

function fit(value: PropertyValue, field: FieldName, property: Property): Rendered {
  if (value === null) return done(null);
  switch (property.type) {
    case 'number':
      return renderNumber(value, property);
    case 'boolean':
      return typeof value === 'boolean' ? done(value) : refuse(`${property.name} takes true or false, not "${value}"`);
    case 'date':
    case 'datetime':
      return renderTime(value, property);
    case 'phone':
      return limit(internationalPhone(String(value)), property, false);
    default:
      return limit(oneLine(String(value), property), property, FIELDS[field].kind === 'multiline');
  }
}

/** An interval such as `10-19` or `1000+` becomes its lower bound. */
function renderNumber(value: Exclude<PropertyValue, null>, property: Property): Rendered {
  const lower = /^\s*(\d+)\s*(?:-\s*\d+|\+)\s*$/u.exec(String(value))?.[1];
  const parsed = typeof value === 'number' ? value : Number(lower ?? (String(value).trim() || Number.NaN));
  if (typeof value === 'boolean' || !Number.isFinite(parsed)) return refuse(`${property.name} takes a number, not "${value}"`);
  return done(property.scale === undefined ? parsed : Number(parsed.toFixed(property.scale)));
}

function renderTime(value: Exclude<PropertyValue, null>, property: Property): Rendered {
  const spelled = String(value);
  const ms = Date.parse(spelled);
  if (!/^\d{4}-\d{2}-\d{2}/u.test(spelled) || Number.isNaN(ms)) return refuse(`${property.name} takes a date, not "${spelled}"`);
  return done(property.type === 'date' ? spelled.slice(0, 10) : new Date(ms).toISOString());
}

function renderList(members: readonly Member[], property: Property): Rendered {
  if (members.length === 0) return done(null);
  if (property.type === 'number') return done(members.length);
  const max = property.maxLength ?? Number.POSITIVE_INFINITY;
  const whole = joined(members);
  if (whole.length <= max) return done(whole);
  for (let kept = members.length - 1; kept > 0; kept -= 1) {
    const cut = `${joined(members.slice(0, kept))} (+${members.length - kept})`;
    if (cut.length <= max) return done(cut);
  }
  return refuse(`the list does not fit into the ${max} characters of ${property.name}`);
}

const joined = (members: readonly Member[]): string =>
  members.map(({ name, share }) => (share === undefined ? name : `${name} (${share.replace(/\s*%$/u, '')} %)`)).join(', ');

const oneLine = (value: string, property: Property): string =>
  property.type === 'multiline' ? value : value.replace(/\s*[\r\n]+\s*/gu, ' ').trim();

/** Eight digits are a Danish number; CRMs keep phones in E.164. */
function internationalPhone(value: string): string {
  const digits = value.replace(/[\s.-]/gu, '');
  return /^\d{8}$/u.test(digits) ? `+45${digits}` : value.trim();
}

function limit(value: string, property: Property, mayCut: boolean): Rendered {
  const max = property.maxLength;
  if (max === undefined || value.length <= max) return done(value);
  if (!mayCut) return refuse(`${value.length} characters do not fit into the ${max} of ${property.name}`);
  return done(`${value.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/u, '').trimEnd()}…`);
}
