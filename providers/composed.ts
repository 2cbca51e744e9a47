/** Texts that a configuration composes of several fields: "{street}, {postalCode} {city}". Pure. */
import { FIELDS, type FieldName, type FieldValue, isFieldName } from './fields.ts';
import type { PresetRow } from './provider.ts';

const PLACE = /\{(\w+)\}/gu;

/** The known fields that a text names, each once. */
export const fieldsIn = (text: string): readonly FieldName[] => [
  ...new Set([...text.matchAll(PLACE)].flatMap(([, name = '']) => (isFieldName(name) ? [name] : []))),
];

/** The fields that a mapping reads, each once. */
export const fieldsOf = (mapping: readonly Pick<PresetRow, 'field' | 'text'>[]): readonly FieldName[] => [
  ...new Set(mapping.flatMap(({ field, text }) => (text === undefined ? [field] : fieldsIn(text)))),
];

/** Separators are dropped with a blank field next to them. */
const SEPARATOR = /^[\s,;/–-]*$/u;

/**
 * The text with the values of its fields. A blank field also drops the text before it, and a blank last field the text
 * after it. Null if the text names fields and all are blank; a text without fields is the same for every company.
 */
export function compose(text: string, valueFor: (field: FieldName) => FieldValue): string | null {
  const [start = '', ...rest] = text.split(PLACE);
  if (rest.length === 0) return text;
  let composed = { text: '', before: start, end: '' };
  for (let at = 0; at < rest.length; at += 2) {
    const [name = '', after = ''] = [rest[at], rest[at + 1]];
    composed = withValue(composed, isFieldName(name) ? spell(valueFor(name)) : '', after);
  }
  return composed.text === '' ? null : `${composed.text}${composed.end}`.trim();
}

/** `before` stands before the next value, and `end` after the last one. */
interface Composing {
  readonly text: string;
  readonly before: string;
  readonly end: string;
}

function withValue({ text, before }: Composing, value: string, after: string): Composing {
  if (value === '') return { text, before: text === '' ? after : before || after, end: '' };
  const isLoose = text === '' && SEPARATOR.test(before);
  return { text: `${text}${isLoose ? '' : before}${value}`, before: after, end: after };
}

const spell = (value: FieldValue): string =>
  Array.isArray(value) ? value.map(({ name }) => name).join(', ') : String(value ?? '').trim();

/** Why a text cannot be composed; undefined if it can. */
export function unfitText(text: string): string | undefined {
  const names = [...text.matchAll(PLACE)].map(([, name = '']) => name);
  const unknown = names.find((name) => !isFieldName(name) || name === 'composed');
  if (unknown !== undefined) return `{${unknown}} is not a field`;
  const never = names.filter(isFieldName).find((name) => 'partial' in FIELDS[name]);
  return never && `{${never}} is never known in full`;
}
