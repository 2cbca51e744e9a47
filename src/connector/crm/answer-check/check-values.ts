/** Reads the parts of answers: lists, ids, values, reasons. Pure; errors thrown here are masked as the provider's. */
import type { PropertyValue } from '../../../../providers/provider.ts';
import { LONGEST_TEXT } from '../../../protocol/shape.ts';
import { cutText } from '../../../protocol/text/cut.ts';
import { described, isPlain } from './described.ts';
import type { IdForm } from './record-id.ts';

export type AnswerObject = Readonly<Record<string, unknown>>;
type Values = Readonly<Record<string, PropertyValue>>;

export interface AnswerReading {
  readonly form: IdForm;
  /** Cuts a text of the provider and masks its secrets, so that it may be stored and shown. */
  readonly masked: (text: string) => string;
}

/** What is wrong with one record's answer, for people. */
export interface Flaw {
  readonly flaw: string;
}

export const isFlaw = (value: object): value is Flaw => 'flaw' in value;

export const isObject = (value: unknown): value is AnswerObject => typeof value === 'object' && value !== null;
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isValue = (value: unknown): value is PropertyValue =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value));

const MOST_WAIT_MS = 24 * 3_600_000;

export const isWait = (ms: unknown): ms is number => typeof ms === 'number' && ms >= 0 && ms <= MOST_WAIT_MS;

/** Cuts a longer wait; undefined if it is not a wait. */
export const boundedWait = (ms: unknown): number | undefined =>
  typeof ms === 'number' && ms >= 0 ? Math.min(ms, MOST_WAIT_MS) : undefined;

/** Characters; more than a person reads. */
const LONGEST_SHOWN = 1_000;
/** No CRM has longer ids, and an index of the store must not take texts of any length. */
const LONGEST_ID = 255;
/** A cursor is stored and sent with each call. */
const LONGEST_CURSOR = 16_384;
/** More properties than a record has, and more notes than a person reads. */
const MOST_NAMED = 1_000;

/** Makes {@link AnswerReading.masked}: `mask` hides the secrets of the connection. */
export const maskerFor =
  (mask: (text: string) => string = (text) => text): AnswerReading['masked'] =>
  (text) =>
    cutText(mask(text), LONGEST_SHOWN);

/** The message ends a sentence: "its read gave no list". */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

export function readObject(answer: unknown, what: string): AnswerObject {
  if (!isObject(answer) || !isPlain(answer)) throw new ShapeError(`${described(answer)} in place of ${what}`);
  return answer;
}

/** A hole in the list reads as undefined. */
export function readList(answer: unknown, what = 'a list'): readonly unknown[] {
  if (!Array.isArray(answer)) throw new ShapeError(`${described(answer)} in place of ${what}`);
  return Array.from<unknown>(answer);
}

/** Returns the canonical form of the id, or what is wrong with it. */
export function idIn(id: unknown, form: IdForm): string | Flaw {
  if (!isText(id)) return { flaw: `${described(id)} as an id: it is a text` };
  if (id.length > LONGEST_ID) return { flaw: `an id of ${id.length} characters: it has ${LONGEST_ID} at most` };
  return form(id) ?? { flaw: `the record id ${id}, which its own canonicalId refuses` };
}

/** Throws if the value is not an id. */
export function readId(id: unknown, form: IdForm): string {
  const read = idIn(id, form);
  if (typeof read !== 'string') throw new ShapeError(read.flaw);
  return read;
}

export function readCursor(cursor: unknown): string {
  if (!isText(cursor))
    throw new ShapeError(`${described(cursor)} in place of a cursor: it is a text, and absent on the last page`);
  if (cursor.length > LONGEST_CURSOR)
    throw new ShapeError(`a cursor of ${cursor.length} characters: it has ${LONGEST_CURSOR} at most`);
  return cursor;
}

/** Returns the properties asked for, or what is wrong with the first invalid value. */
export function valuesOf(properties: unknown, names?: readonly string[]): Values | Flaw {
  if (!isObject(properties) || !isPlain(properties))
    return { flaw: `${described(properties)} in place of properties: they are an object of values by name` };
  const values: [string, PropertyValue][] = [];
  for (const name of names ?? Object.keys(properties)) {
    const value = Object.hasOwn(properties, name) ? properties[name] : undefined;
    // An absent property cannot be read; it is not blank.
    if (value === undefined) continue;
    if (!isValue(value))
      return {
        flaw: `${described(value)} in the property ${name}: a value is a text, a finite number, true, false or null`,
      };
    // No CRM stores such a text, and every rule that meets it would take long.
    if (typeof value === 'string' && value.length > LONGEST_TEXT)
      return { flaw: `a text of ${value.length} characters in the property ${name}: it has ${LONGEST_TEXT} at most` };
    values.push([name, value]);
  }
  return Object.fromEntries(values);
}

export const reasonOf = (reason: unknown, { masked }: AnswerReading): string =>
  isText(reason) ? masked(reason) : 'the provider gave no reason';

/** By property. */
export const reasonsOf = (properties: unknown, reading: AnswerReading): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isObject(properties) ? properties : {})
      .slice(0, MOST_NAMED)
      .map(([name, reason]) => [name, reasonOf(reason, reading)]),
  );

/** Masks the first lines and drops the rest. */
export const linesOf = (lines: unknown, { masked }: AnswerReading): readonly string[] =>
  (Array.isArray(lines) ? Array.from<unknown>(lines.slice(0, MOST_NAMED)) : []).map((line) =>
    masked(isText(line) ? line : described(line)),
  );
