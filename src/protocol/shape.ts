/**
 * Reads tolerantly by schema: brings a sender's value into the shape of a TypeBox schema. Finds names in any case and
 * by `aliases`; reads numbers from texts and texts from numbers; fills absent properties with their `default`, null or an
 * empty list, but reports an absent `needed` property; keeps unknown properties. An unreadable `lenient` property
 * becomes null.
 */
import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { canonicalEntityId } from './entity-id.ts';
import { findKey, isJsonObject, type JsonObject } from './text/json.ts';
import { normaliseTime } from './text/time.ts';

/** A problem with a value that was read by a schema, and its place. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

export type Marks = {
  readonly aliases?: readonly string[];
  /** Absence is an issue, null is not. */
  readonly needed?: true;
  readonly lenient?: true;
  /** The property that a bare text or number instead of this object stands for. */
  readonly bare?: string;
  /** An entity id, stored in canonical form, or a time, checked but stored as sent. */
  readonly text?: 'entity' | 'time';
};

/** Maximum characters of a text: no property of the CRMs holds more. */
export const LONGEST_TEXT = 131_072;

/** Compared by identity; never leaves this file. */
const UNREADABLE = Symbol('unreadable');
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

const marksOf = (schema: TSchema): Marks => schema;

const describe = (value: unknown): string => {
  if (value === undefined) return 'is missing';
  if (value === null) return 'is null';
  if (Array.isArray(value)) return 'is a list';
  return `is ${typeof value === 'object' ? 'an object' : `a ${typeof value}`}`;
};

const fail = (path: string, value: unknown, wanted: string, issues: Issue[]): typeof UNREADABLE => {
  issues.push({ path, message: `${describe(value)}, should be ${wanted}` });
  return UNREADABLE;
};

/** Reads a scalar from its wrapper: metrics of reports wrap their values, not always in a known place. */
const unwrap = (value: unknown): unknown =>
  isJsonObject(value) && Object.hasOwn(value, 'value') ? value['value'] : value;

const readText = (schema: TSchema, value: unknown, path: string, issues: Issue[]): unknown => {
  const text = typeof value === 'number' && Number.isFinite(value) ? String(value) : value;
  if (typeof text !== 'string') return fail(path, value, 'a text', issues);
  if (text.length > LONGEST_TEXT) {
    issues.push({ path, message: `has ${text.length} characters, may have ${LONGEST_TEXT}` });
    return UNREADABLE;
  }
  const kind = marksOf(schema).text;
  if (kind === 'entity') return canonicalEntityId(text) ?? text;
  return kind === 'time' && normaliseTime(text) === undefined ? fail(path, value, 'an ISO 8601 time', issues) : text;
};

const readNumber = (value: unknown, whole: boolean, path: string, issues: Issue[]): unknown => {
  const number = typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return fail(path, value, 'a number', issues);
  return whole && !Number.isInteger(number) ? fail(path, value, 'a whole number', issues) : number;
};

const readFlag = (value: unknown, path: string, issues: Issue[]): unknown => {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return text === 'true' || text === 'false' ? text === 'true' : fail(path, value, 'true or false', issues);
};

const isFilled = (schema: TSchema): boolean => Object.hasOwn(schema, 'default') || Type.IsArray(schema);

/** The replacement for an absent value; undefined if the schema requires one. */
const standIn = (schema: TSchema): unknown => {
  if (Object.hasOwn(schema, 'default')) return Object.getOwnPropertyDescriptor(schema, 'default')?.value;
  if (Type.IsArray(schema)) return [];
  const isNullable = Type.IsUnknown(schema) || (Type.IsUnion(schema) && schema.anyOf.some(Type.IsNull));
  return isNullable ? null : undefined;
};

const readProperty = (schema: TSchema, value: unknown, path: string, issues: Issue[]): unknown => {
  const marks = marksOf(schema);
  if (value === undefined || (value === null && isFilled(schema))) {
    const read = marks.needed === true ? undefined : standIn(schema);
    return read === undefined ? fail(path, undefined, 'there', issues) : read;
  }
  const found: Issue[] = [];
  const read = shape(schema, value, path, found);
  if (found.length === 0) return read;
  if (marks.lenient === true) return standIn(schema);
  issues.push(...found);
  return UNREADABLE;
};

const asObject = ({ bare }: Marks, given: unknown): unknown =>
  bare !== undefined && (typeof given === 'string' || typeof given === 'number') ? { [bare]: given } : given;

/** The key of a property: its own name if that has a value, else an alias. */
const keyOf = (
  value: JsonObject,
  name: string,
  { aliases }: Marks,
): { readonly own: string | undefined; readonly key: string | undefined } => {
  const own = findKey(value, [name]);
  const isFilledIn = own !== undefined && value[own] !== null && value[own] !== undefined;
  return { own, key: isFilledIn || aliases === undefined ? own : (findKey(value, aliases) ?? own) };
};

const readObject = (schema: TObject<TProperties>, given: unknown, path: string, issues: Issue[]): unknown => {
  const value = asObject(marksOf(schema), given);
  if (!isJsonObject(value)) return fail(path, value, 'an object', issues);
  const names = Object.keys(schema.properties);
  const used = new Set<string>(['__proto__']);
  const read: [string, unknown][] = [];
  const found: Issue[] = [];
  for (const name of names) {
    const property = schema.properties[name] ?? Type.Unknown();
    const { own, key } = keyOf(value, name, marksOf(property));
    if (own !== undefined) used.add(own);
    if (key !== undefined) used.add(key);
    read.push([name, readProperty(property, key === undefined ? undefined : value[key], `${path}.${name}`, found)]);
  }
  if (used.size === 1) {
    issues.push({ path, message: `has none of the fields ${names.slice(0, 5).join(', ')}` });
    return UNREADABLE;
  }
  issues.push(...found);
  return Object.fromEntries([...read, ...Object.entries(value).filter(([key]) => !used.has(key))]);
};

const readUnion = (options: readonly TSchema[], value: unknown, path: string, issues: Issue[]): unknown => {
  if (value === null && options.some(Type.IsNull)) return null;
  const tried: Issue[] = [];
  for (const option of options) {
    if (Type.IsNull(option)) continue;
    const found: Issue[] = [];
    const read = shape(option, value, path, found);
    if (found.length === 0) return read;
    if (tried.length === 0) tried.push(...found);
  }
  issues.push(...tried);
  return UNREADABLE;
};

/**
 * Reads a value as the schema states it, to the depth of the schema. Pushes unreadable parts to `issues`; without
 * issues the result satisfies the schema, with issues it is meaningless.
 */
export const shape = (schema: TSchema, value: unknown, path: string, issues: Issue[]): unknown => {
  if (Type.IsUnknown(schema)) return value;
  if (Type.IsUnion(schema)) return readUnion(schema.anyOf, value, path, issues);
  if (Type.IsObject(schema)) return readObject(schema, value, path, issues);
  if (Type.IsArray(schema)) {
    if (!Array.isArray(value)) return fail(path, value, 'a list', issues);
    return value.map((item: unknown, index) => shape(schema.items, item, `${path}.${index}`, issues));
  }
  const scalar = unwrap(value);
  if (Type.IsString(schema)) return readText(schema, scalar, path, issues);
  if (Type.IsBoolean(schema)) return readFlag(scalar, path, issues);
  if (Type.IsInteger(schema)) return readNumber(scalar, true, path, issues);
  if (Type.IsNumber(schema)) return readNumber(scalar, false, path, issues);
  throw new Error(`shape cannot read by a schema of this kind, at ${path}`);
};
