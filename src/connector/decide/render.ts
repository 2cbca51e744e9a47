/** Renders a field's value for one CRM property, or says why it cannot. */
import { FIELDS, type FieldName, type FieldValue, type Member } from '../../../providers/fields.ts';
import type { Property, PropertyValue } from '../../../providers/provider.ts';
import { internationalPhone } from '../../protocol/danish/phone.ts';
import { sharedDomain } from '../../protocol/danish/web-domain.ts';
import { countryCodeOf } from '../../protocol/text/country.ts';
import { normaliseTime } from '../../protocol/text/time.ts';
import { joinLines, withoutPercent } from '../../protocol/text/trim.ts';
import { isBlank } from './decide.ts';
import { isCountry } from './same.ts';

export type Rendered =
  | { readonly ok: true; readonly value: PropertyValue }
  | { readonly ok: false; readonly reason: string };

/** Register value → CRM value; a key that ends in `*` covers all values with this beginning. */
export type ValueMap = Readonly<Record<string, PropertyValue>>;

type Filled = Exclude<PropertyValue, null>;

const done = (value: PropertyValue): Rendered => ({ ok: true, value });
const refuse = (reason: string): Rendered => ({ ok: false, reason });

const JOIN = ', ';

export interface RenderOptions {
  readonly values?: ValueMap | undefined;
  /** What stands between the members of a list in a text. */
  readonly join?: string | undefined;
  /** Writes texts in capitals, or in small letters. */
  readonly letters?: 'upper' | 'lower' | undefined;
}

/**
 * Renders a value: value map first, then type, options and length. Cuts free text and lists to the property's length;
 * refuses other values that do not fit, since half a name or address is wrong.
 */
export function render(
  field: FieldName,
  value: FieldValue,
  property: Property,
  { letters, ...options }: RenderOptions = {},
): Rendered {
  const rendered = renderValue(field, value, property, options);
  if (letters === undefined || !rendered.ok || typeof rendered.value !== 'string' || property.options !== undefined)
    return rendered;
  return done(letters === 'upper' ? rendered.value.toLocaleUpperCase('da') : rendered.value.toLocaleLowerCase('da'));
}

function renderValue(
  field: FieldName,
  value: FieldValue,
  property: Property,
  { values, join = JOIN }: RenderOptions,
): Rendered {
  const mapped = values === undefined || value === null ? undefined : lookUp(values, value);
  if (mapped === undefined && isList(value)) return renderList(value, property, join);
  const plain = mapped === undefined && !isList(value) ? value : (mapped ?? null);
  if (plain === null || isBlank(plain)) return done(blankOf(property));
  return renderFilled(plain, field, property);
}

/** A checkbox has no blank value, so it is unticked. */
const blankOf = (property: Property): PropertyValue => (property.type === 'boolean' ? false : null);

const isList = (value: FieldValue): value is readonly Member[] => Array.isArray(value);

function lookUp(values: ValueMap, value: FieldValue): PropertyValue | undefined {
  const key = isList(value) ? value.map((member) => member.id).join(', ') : String(value);
  if (Object.hasOwn(values, key)) return values[key];
  const prefixes = Object.keys(values).filter((each) => each.endsWith('*') && key.startsWith(each.slice(0, -1)));
  const longest = prefixes.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : values[longest];
}

function renderFilled(value: Filled, field: FieldName, property: Property): Rendered {
  switch (property.type) {
    case 'enumeration':
      return renderOption(String(value).trim(), property, isCountry(field) ? countryCodeOf : undefined);
    case 'number':
      return renderNumber(value, field, property);
    case 'boolean':
      return renderBoolean(value, property);
    case 'date':
    case 'datetime':
      return renderTime(String(value).trim(), property);
    case 'phone':
      return limit(internationalPhone(String(value)), property, false);
    default:
      if (property.ownSite === true && sharedDomain(String(value)) !== undefined)
        return refuse(
          `${sharedDomain(String(value))} is no domain of the company's own, and the CRM would take it from ${property.name} for that`,
        );
      return limit(textFor(String(value), property), property, FIELDS[field].kind === 'multiline');
  }
}

/** `canonical` maps all spellings of one value to the same text. */
function renderOption(wanted: string, property: Property, canonical?: (text: string) => string | undefined): Rendered {
  const options = property.options ?? [];
  const folded = wanted.toLowerCase();
  const common = canonical?.(wanted);
  const option =
    options.find((each) => each.value === wanted) ??
    options.find((each) => each.value.toLowerCase() === folded) ??
    options.find((each) => each.label.toLowerCase() === folded) ??
    options.find((each) => common !== undefined && (canonical?.(each.value) ?? canonical?.(each.label)) === common);
  if (option !== undefined) return done(option.value);
  if (property.open === true) return limit(wanted, property, false);
  return refuse(`"${wanted}" is not among the options of ${property.name}; add the option or a value map`);
}

/** An interval such as `10-19` or `1000+` becomes its lower bound. */
function renderNumber(value: Filled, field: FieldName, property: Property): Rendered {
  const spelled = String(value).trim();
  const isInterval = FIELDS[field].kind === 'interval';
  const lower = isInterval ? /^(\d+)\s*(?:[-–]\s*\d+|\+)$/u.exec(spelled)?.[1] : undefined;
  const number = typeof value === 'number' ? value : parsePlain(lower ?? spelled);
  if (!Number.isFinite(number)) return refuse(`${property.name} takes a number, not "${spelled}"`);
  const stated =
    property.fraction === true && FIELDS[field].percent === true ? Number((number / 100).toPrecision(12)) : number;
  const scaled = property.scale === undefined ? stated : Number(stated.toFixed(property.scale));
  // Every CRM shows minus zero as "0", so it must equal zero.
  return done(scaled === 0 ? 0 : scaled);
}

const parsePlain = (spelled: string): number => (/^[+-]?\d+(?:\.\d+)?$/u.test(spelled) ? Number(spelled) : Number.NaN);

/** Value maps may write true and false as texts. */
function renderBoolean(value: Filled, property: Property): Rendered {
  const spelled = String(value).trim().toLowerCase();
  if (spelled === 'true' || spelled === 'false') return done(spelled === 'true');
  return refuse(`${property.name} takes true or false, not "${value}"`);
}

/** A date keeps its own time zone; an instant without a zone is UTC. */
function renderTime(spelled: string, property: Property): Rendered {
  const instant = normaliseTime(spelled);
  if (instant === undefined) return refuse(`${property.name} takes a date, not "${spelled}"`);
  return done(property.type === 'date' ? spelled.slice(0, 10) : instant);
}

function renderList(members: readonly Member[], property: Property, join: string): Rendered {
  if (property.type === 'number') return done(members.length);
  if (members.length === 0) return done(blankOf(property));
  if (property.type === 'enumeration') return renderOption(members.map(memberLine).join(', '), property);
  if (property.type === 'boolean' || property.type === 'date' || property.type === 'datetime')
    return refuse(`${property.name} takes no list`);
  return cutList(members.map(memberLine), property, joinFor(property, join));
}

const memberLine = ({ name, share }: Member): string => {
  const line = name.replace(/\s+/gu, ' ').trim();
  return share === undefined ? line : `${line} (${withoutPercent(share)} %)`;
};

function cutList(names: readonly string[], property: Property, join: string): Rendered {
  const max = property.maxLength ?? Number.POSITIVE_INFINITY;
  const whole = names.join(join);
  if (whole.length <= max) return done(whole);
  let best: string | undefined;
  let fitting = '';
  for (const [index, name] of names.entries()) {
    fitting = index === 0 ? name : `${fitting}${join}${name}`;
    if (fitting.length > max) break;
    const cut = `${fitting} (+${names.length - index - 1})`;
    if (cut.length <= max) best = cut;
  }
  return best === undefined
    ? refuse(`the list does not fit into the ${max} characters of ${property.name}`)
    : done(best);
}

/** A one-line property takes no line break. */
const joinFor = ({ type }: Property, join: string): string => (type === 'multiline' ? join : joinLines(join, JOIN));

const textFor = (value: string, property: Property): string =>
  (property.type === 'multiline' ? value : joinLines(value, ' ')).trim();

function limit(value: string, property: Property, mayCut: boolean): Rendered {
  const max = property.maxLength ?? Number.POSITIVE_INFINITY;
  if (value.length <= max) return done(value);
  // Also false for NaN: a cut at NaN leaves nothing.
  const canCut = mayCut && max >= 1;
  if (!canCut) return refuse(`${value.length} characters do not fit into the ${max} of ${property.name}`);
  const fitting = value
    .slice(0, max - 1)
    .replace(/[\uD800-\uDBFF]$/u, '')
    .trimEnd();
  return done(`${fitting}…`);
}
