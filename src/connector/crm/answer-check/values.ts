/** What answers are made of: ids, values, reasons. Pure; {@link ShapeError} says what does not fit the contract. */
import Type, { type Static, type TSchema } from 'typebox';
import { misfitFinder, misfitText, objectOf } from '../../../../providers/misfit.ts';
import type { PropertyValue } from '../../../../providers/provider.ts';
import { LONGEST_TEXT } from '../../../protocol/shape.ts';
import { cutText } from '../../../protocol/text/cut.ts';

export type AnswerObject = Readonly<Record<string, unknown>>;
type Values = Readonly<Record<string, PropertyValue>>;
/** The canonical form of an id; undefined if no record can have it. */
export type IdForm = (text: string) => string | undefined;

/** How the answers of one connection are read. */
export interface AnswerReading {
  readonly form: IdForm;
  /** A text of the provider as cvrsync may store and show it: cut to what a person reads, and without secrets. */
  readonly masked: (text: string) => string;
}

/** What is wrong with an answer, as the end of a sentence: "its read gave nothing in place of a list". */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

/** Makes a reader that returns an answer unchanged, and throws {@link ShapeError} if it does not fit the schema. */
export function expecting<S extends TSchema>(schema: S, part?: string): (answer: unknown) => Static<S> {
  const misfitIn = misfitFinder(schema, part);
  return (answer) => {
    const misfit = misfitIn(answer);
    if (misfit !== undefined) throw new ShapeError(misfitText(misfit));
    return answer as Static<S>;
  };
}

/** Makes the test whether a value fits a schema. */
export function fitting<S extends TSchema>(schema: S): (value: unknown) => value is Static<S> {
  const misfitIn = misfitFinder(schema);
  return (value): value is Static<S> => misfitIn(value) === undefined;
}

export const isObject = (value: unknown): value is AnswerObject => typeof value === 'object' && value !== null;
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** A list; a hole in it becomes undefined. */
export const readList = (answer: unknown, wanted = 'a list'): readonly unknown[] =>
  Array.from<unknown>(expecting(Type.Array(Type.Unknown(), { wanted }))(answer));

const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** The `kind` of an answer. */
export const kindIn = <K extends string>(kinds: readonly K[]) =>
  Type.Enum([...kinds], { wanted: `it is ${OR.format(kinds)}` });

/** No CRM has longer ids, and an index of the store limits the length of a text. */
const LONGEST_ID = 255;
export const ID_WANTED = `it is a text of ${LONGEST_ID} characters at most`;
export const ID = Type.String({ minLength: 1, maxLength: LONGEST_ID, wanted: ID_WANTED });
export const readId = expecting(ID, 'id');

/** The canonical form of an id that is to be stored; throws if its provider rejects it. */
export function canonical(id: string, form: IdForm): string {
  const read = form(id);
  if (read === undefined) throw new ShapeError(`the record id ${id}, which its own canonicalId refuses`);
  return read;
}

const VALUES_WANTED = 'they are an object of values by name';
const VALUE_WANTED = `it is a text of ${LONGEST_TEXT} characters at most, a finite number, true, false or null`;
// No CRM keeps a longer text in a property, and each rule that meets it would take long.
const TEXT_VALUE = Type.String({ maxLength: LONGEST_TEXT });
/** An absent value cannot be read: it is not blank. */
export const VALUE = Type.Union([Type.Null(), Type.Boolean(), Type.Number(), TEXT_VALUE, Type.Undefined()], {
  wanted: VALUE_WANTED,
});
export const VALUES = objectOf({}, { wanted: VALUES_WANTED }, { additionalProperties: VALUE });

const asMembers = expecting(objectOf({}, { wanted: VALUES_WANTED }), 'properties');
const asValues = expecting(VALUES, 'properties');

/** A copy of checked values, without the absent ones. */
export const copyValues = (values: object, names: readonly string[] = Object.keys(values)): Values =>
  Object.fromEntries(
    names
      .filter((name) => Object.hasOwn(values, name))
      .map((name): [string, PropertyValue | undefined] => [name, Reflect.get(values, name)])
      .filter((entry): entry is [string, PropertyValue] => entry[1] !== undefined),
  );

/** The values of the properties that were asked for; throws if one of them does not fit. */
export function readValues(properties: unknown, names: readonly string[]): Values {
  const values = copyValues(asMembers(properties), names);
  asValues(values);
  return values;
}

const MOST_WAIT_MS = 24 * 3_600_000;

/** Whether an account can live with such a wait. */
export const isWait = (ms: unknown): ms is number => typeof ms === 'number' && ms >= 0 && ms <= MOST_WAIT_MS;

/** The wait, a day at most; undefined if it is not a wait. */
export const boundedWait = (ms: unknown): number | undefined =>
  typeof ms === 'number' && ms >= 0 ? Math.min(ms, MOST_WAIT_MS) : undefined;

/** More characters than a person reads. */
const LONGEST_SHOWN = 1_000;
/** More properties than a record has, and more notes than a person reads. */
const MOST_NAMED = 1_000;

/** Makes {@link AnswerReading.masked}; `mask` hides the secrets of the connection. */
export const maskerFor =
  (mask: (text: string) => string = (text) => text): AnswerReading['masked'] =>
  (text) =>
    cutText(mask(text), LONGEST_SHOWN);

/** The text for people; undefined if it is not a text. */
export const shownText = (text: unknown, { masked }: Pick<AnswerReading, 'masked'>): string | undefined =>
  isText(text) ? masked(text) : undefined;

export const reasonOf = (reason: unknown, reading: AnswerReading): string =>
  shownText(reason, reading) ?? 'the provider gave no reason';

/** The reason by property. */
export const reasonsOf = (properties: unknown, reading: AnswerReading): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isObject(properties) ? properties : {})
      .slice(0, MOST_NAMED)
      .map(([name, reason]) => [name, reasonOf(reason, reading)]),
  );

/** The first lines for a person. */
export const firstLines = (lines: unknown): readonly unknown[] =>
  Array.isArray(lines) ? Array.from<unknown>(lines.slice(0, MOST_NAMED)) : [];
