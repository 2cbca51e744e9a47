/**
 * Tolerant reading by schema: brings a value as somebody sent it into the shape a TypeBox schema states.
 *
 * Names are found by case-insensitive search and by `aliases`; numbers are read from texts and texts from
 * numbers; what is absent becomes its `default`, null or an empty list, but an absent `needed` property is an
 * issue; unknown properties are kept. A property marked `lenient` that cannot be read becomes null.
 */
import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { canonicalEntityId } from '../entity-id.ts';
import { findKey, isJsonObject, type JsonObject } from './json.ts';
import { normaliseTime } from './time.ts';

/** What could not be read, and where: `updates.address.after.postalCode`. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** The marks a schema may carry for {@link shape}. */
export type Marks = {
  /** Other names the property goes by. */
  readonly aliases?: readonly string[];
  /** Its absence is an issue, though null is none. */
  readonly needed?: true;
  /** It becomes null where it cannot be read. */
  readonly lenient?: true;
  /** The property that a bare text or number in place of this object stands for. */
  readonly bare?: string;
  /** A text that is an entity id or a time: kept in canonical form, and checked for a time. */
  readonly text?: 'entity' | 'time';
};

/** The longest text that is read, in characters: no property of the CRMs takes more. */
export const LONGEST_TEXT = 131_072;

/** An unreadable value. Compared by identity; never leaves this file. */
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

/** Metrics of reports wrap their value, and where is not always known: a scalar is read out of its wrapping. */
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

/** What stands in for a value that is not there; undefined where the schema demands one. */
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

/** A bare text or number in place of an object, as the object it stands for. */
const asObject = ({ bare }: Marks, given: unknown): unknown =>
  bare !== undefined && (typeof given === 'string' || typeof given === 'number') ? { [bare]: given } : given;

/** The key that a property stands under: its own name where something stands there, before its aliases. */
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
 * Reads a value as the schema states it; pushes what could not be read to `issues`, and then the result means
 * nothing. Without issues the result satisfies the schema. Depth is bounded by the schema's.
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
