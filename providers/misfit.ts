/**
 * Finds what does not fit a TypeBox schema of the contract, and says so to the author of a provider: types do not bind
 * values that come from JSON or JavaScript. The runtime refuses a part that does not fit; the suite reports it. Pure.
 */
import { types } from 'node:util';
import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';

/** Options of a schema by which a misfit is put into words. */
export interface Wording {
  /** The end of a sentence: "it is true or false". At the root of an answer a noun: "a page". */
  readonly wanted: string;
  /** The value, as the owner of its members: "the connection". */
  readonly title?: string;
  /** The member whose text tells the value from others of its kind: "a property" becomes "the property phone". */
  readonly by?: string;
}

export interface Misfit {
  /** The owner of the part: "the property phone". */
  readonly of?: string | undefined;
  /** The path to the part; empty for the whole answer. */
  readonly part: string;
  readonly got: unknown;
  readonly wanted: string;
}

/** `the property title with null as writable: it is true or false`. */
export function misfitText({ of, part, got, wanted }: Misfit): string {
  if (part === '') return `${describeValue(got)} in place of ${wanted}`;
  return `${of === undefined ? '' : `${of} with `}${describeValue(got)} as ${part}: ${wanted}`;
}

/** Makes the check of a schema, compiled when it is first used; `part` names the whole. */
export function misfitFinder(schema: TSchema, part = ''): (value: unknown) => Misfit | undefined {
  let compiled: { readonly Check: (value: unknown) => boolean } | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    return compiled.Check(value) ? undefined : findMisfit(schema, value, { part });
  };
}

/** An object with these members; not a list, a Map or a promise that the provider forgot to await. */
export const objectOf = <P extends Readonly<Record<string, TSchema>>>(
  members: P,
  wording: Wording,
  rest?: { readonly additionalProperties: TSchema },
) => Type.Refine(Type.Object(members, { ...wording, ...rest }), isPlainObject);

/** A list without holes, which an array that was filled by index may have. */
export const listOf = <S extends TSchema>(member: S, wanted: string) =>
  Type.Refine(Type.Array(member, { wanted }), (list) => !list.includes(undefined as never));

type Place = Pick<Misfit, 'of' | 'part'>;

const wordingOf = (schema: TSchema): Partial<Wording> => schema;

/** The first misfit: the smallest part that does not fit, in the order of the schema. */
function findMisfit(schema: TSchema, value: unknown, place: Place): Misfit | undefined {
  if (Value.Check(schema, value)) return undefined;
  const { wanted = 'it is of another type', title } = wordingOf(schema);
  const inside = title === undefined ? place : { of: ownerOf(schema, value), part: '' };
  for (const { key, member } of membersOf(schema, value)) {
    const held: unknown = Reflect.get(Object(value), key);
    if (held === undefined && Type.IsOptional(member)) continue;
    const misfit = findMisfit(member, held, placeOf(member, inside, key));
    if (misfit !== undefined) return misfit;
  }
  return { ...place, got: value, wanted };
}

function membersOf(schema: TSchema, value: unknown): { key: string; member: TSchema }[] {
  if (Type.IsArray(schema)) {
    // A hole is a member, too.
    const keys = Array.isArray(value) ? Array.from(value, (_, at) => String(at)) : [];
    return keys.map((key) => ({ key, member: schema.items }));
  }
  if (!Type.IsObject(schema) || !isPlainObject(value)) return [];
  const rest: unknown = Object.getOwnPropertyDescriptor(schema, 'additionalProperties')?.value;
  const others = Object.keys(value).filter((key) => !Object.hasOwn(schema.properties, key));
  return [
    ...Object.entries(schema.properties).map(([key, member]) => ({ key, member })),
    ...(Type.IsSchema(rest) ? others.map((key) => ({ key, member: rest })) : []),
  ];
}

function placeOf(member: TSchema, { of, part }: Place, key: string): Place {
  const { title } = wordingOf(member);
  if (title !== undefined) return { part: title };
  if (part === '') return { of, part: key };
  return { of, part: /^\d+$/.test(key) ? `${part}[${key}]` : `${part}.${key}` };
}

function ownerOf(schema: TSchema, value: unknown): string | undefined {
  const { title, by } = wordingOf(schema);
  const name = by !== undefined && isPlainObject(value) ? value[by] : undefined;
  return typeof name === 'string' && name !== '' ? `${title?.replace(/^an? /, 'the ')} ${cut(name)}` : title;
}

const LONGEST_SHOWN = 60;

const cut = (text: string): string =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN).toWellFormed()}…` : text;

/** A value for the author of a provider: `the number 7`, `an object`. Reads nothing of an object, which may throw. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return 'nothing';
    case 'string':
      return value === '' ? 'an empty text' : describeText(value);
    case 'number':
    case 'bigint':
      return `the ${typeof value} ${value}`;
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? 'null' : kindOf(value);
    default:
      return `a ${typeof value}`;
  }
}

const describeText = (text: string): string =>
  `the text ${JSON.stringify(cut(text))}${text.length > LONGEST_SHOWN ? ` of ${text.length} characters` : ''}`;

/** Whether it is an object of members, as answers are: not a list, a Map or a promise. */
const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && kindOf(value) === OBJECT;

const OBJECT = 'an object';

function kindOf(value: object): string {
  if (types.isProxy(value)) return OBJECT;
  if (Array.isArray(value)) return 'a list';
  if (types.isPromise(value)) return 'a promise (is an await missing?)';
  if (types.isGeneratorObject(value)) return 'a generator (return the answer, do not yield it)';
  if (types.isDate(value)) return 'a Date (a date is a text such as 2026-03-01)';
  if (types.isMap(value)) return 'a Map';
  return types.isSet(value) ? 'a Set' : OBJECT;
}
