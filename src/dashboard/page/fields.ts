/** The fields of a form, as they were sent. */
import { storable } from '../../store/each.ts';

/** In order; a name may occur several times. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** The names of the form token and the return address. */
export const FORM_TOKEN = '_form';

/** A field of this name holds a secret: no page shows its value. */
export const SECRET_FIELD = 'secret';

/** Reads a parsed body, query or path. Drops what is not text, and replaces characters that no store accepts. */
export function fieldsOf(given: unknown): Fields {
  if (typeof given !== 'object' || given === null) return [];
  return Object.entries(given).flatMap(([name, value]: [string, unknown]) =>
    [value].flat().flatMap((one): Fields => (typeof one === 'string' ? [[storable(name), storable(one)]] : [])),
  );
}

/** The bytes of a file in a field. */
export function fileOf(body: unknown, name: string): Buffer | undefined {
  const value = typeof body === 'object' && body !== null ? new Map(Object.entries(body)).get(name) : undefined;
  return Buffer.isBuffer(value) && value.length > 0 ? value : undefined;
}

/** The first value of a field; empty if missing. */
export const fieldValue = (fields: Fields, name: string): string => fields.find(([one]) => one === name)?.[1] ?? '';

export const fieldValues = (fields: Fields, name: string): readonly string[] =>
  fields.filter(([one]) => one === name).map(([, value]) => value);

export const packFields = (fields: Fields): string => JSON.stringify(fields.filter(([name]) => name !== FORM_TOKEN));

/** The inverse of {@link packFields}; undefined for any other text. */
export function unpackFields(text: string): Fields | undefined {
  try {
    const packed: unknown = JSON.parse(text);
    return Array.isArray(packed) && packed.every(isField) ? packed : undefined;
  } catch {
    return undefined;
  }
}

const isField = (field: unknown): field is Fields[number] =>
  Array.isArray(field) && field.length === 2 && field.every((part) => typeof part === 'string');
