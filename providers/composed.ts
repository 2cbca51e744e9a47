/** Texts that a configuration composes of several fields: "{street}, {postalCode} {city}". Pure. */
import { FIELDS, type FieldName, type FieldValue, isFieldName } from './fields.ts';
import type { PresetRow } from './provider.ts';

const PLACE = /\{(\w+)\}/gu;

/** The fields that a text names, each once. A configuration names no others. */
export const fieldsIn = (text: string): readonly FieldName[] => [
  ...new Set([...text.matchAll(PLACE)].flatMap(([, name = '']) => (isFieldName(name) ? [name] : []))),
];

/** The fields that a mapping reads, each once. */
export const fieldsOf = (mapping: readonly Pick<PresetRow, 'field' | 'text'>[]): readonly FieldName[] => [
  ...new Set(mapping.flatMap(({ field, text }) => (text === undefined ? [field] : fieldsIn(text)))),
];

/** Separators that a blank field leaves at either end, or twice in a row. */
const LOOSE = /^[\s,;/–-]+|[\s,;/–-]+$/gu;
const DOUBLE = /([,;/])(?:\s*[,;/])+/gu;

/**
 * The text with the values of its fields. Null if it names fields and all of them are blank; a text without fields is
 * the same for every company.
 */
export function compose(text: string, valueFor: (field: FieldName) => FieldValue): string | null {
  const spelled = new Map(fieldsIn(text).map((field) => [field, spell(valueFor(field))]));
  if (spelled.size === 0) return text;
  if ([...spelled.values()].every((value) => value === '')) return null;
  const filled = text.replaceAll(PLACE, (place, name: string) =>
    isFieldName(name) ? (spelled.get(name) ?? '') : place,
  );
  const isWhole = [...spelled.values()].every((value) => value !== '');
  return (isWhole ? filled : filled.replaceAll(DOUBLE, '$1').replaceAll(LOOSE, '')).replaceAll(/ {2,}/gu, ' ').trim();
}

const spell = (value: FieldValue): string =>
  Array.isArray(value) ? value.map(({ name }) => name).join(', ') : String(value ?? '').trim();

/** Why a text cannot be composed; undefined if it can. */
export function unfitText(text: string): string | undefined {
  const names = [...text.matchAll(PLACE)].map(([, name = '']) => name);
  const unknown = names.find((name) => !isFieldName(name) || name === 'composed');
  if (unknown !== undefined) return `{${unknown}} is no field`;
  const never = names.filter(isFieldName).find((name) => 'partial' in FIELDS[name]);
  return never && `{${never}} is never known in full`;
}
