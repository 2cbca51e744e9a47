/** The fields of a form, as they were sent. */
import { storable } from '../../store/each.ts';

/** Names and values in their order; a name may come several times. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** What the form token and the return address are called, apart from the fields of any form. */
export const FORM_TOKEN = '_form';

/** A field of this name holds a secret: no page shows its value. */
export const SECRET_FIELD = 'secret';

/** Reads a parsed body, query or path; what is no text is left out, and what no store could look for is replaced. */
export function fieldsOf(given: unknown): Fields {
  if (typeof given !== 'object' || given === null) return [];
  return Object.entries(given).flatMap(([name, value]: [string, unknown]) =>
    [value].flat().flatMap((one): Fields => (typeof one === 'string' ? [[storable(name), storable(one)]] : [])),
  );
}

/** The bytes of a file that was sent in a field; undefined if none was. */
export function fileOf(body: unknown, name: string): Buffer | undefined {
  const value = typeof body === 'object' && body !== null ? new Map(Object.entries(body)).get(name) : undefined;
  return Buffer.isBuffer(value) && value.length > 0 ? value : undefined;
}

/** The first value of a field; empty if it was not sent. */
export const fieldValue = (fields: Fields, name: string): string => fields.find(([one]) => one === name)?.[1] ?? '';

/** All values of a field, in their order. */
export const fieldValues = (fields: Fields, name: string): readonly string[] =>
  fields.filter(([one]) => one === name).map(([, value]) => value);

/** Fields as one text, to be kept in a form. */
export const packFields = (fields: Fields): string => JSON.stringify(fields.filter(([name]) => name !== FORM_TOKEN));

/** Fields that were packed; undefined if the text is something else. */
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
