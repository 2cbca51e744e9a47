/** What answers are made of: lists, ids, values, reasons. Pure; what is thrown here is masked as the provider's doing. */
import type { PropertyValue } from '../../../../providers/provider.ts';
import { LONGEST_TEXT } from '../../../protocol/shape.ts';
import { cutText } from '../../../protocol/text/cut.ts';
import { described, isPlain } from './described.ts';
import type { IdForm } from './record-id.ts';

export type AnswerObject = Readonly<Record<string, unknown>>;
type Values = Readonly<Record<string, PropertyValue>>;

/** What the answers of one connection are read with. */
export interface AnswerReading {
  /** How ids are spelled here. */
  readonly form: IdForm;
  /** A text of the provider as it may be stored and shown: no longer than a person reads, without a secret. */
  readonly masked: (text: string) => string;
}

/** What is wrong with an answer for one record, for people. */
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

/** Whether an account can live with such a wait. */
export const isWait = (ms: unknown): ms is number => typeof ms === 'number' && ms >= 0 && ms <= MOST_WAIT_MS;

/** The wait, no longer than an account can live with; undefined if it is none. */
export const boundedWait = (ms: unknown): number | undefined =>
  typeof ms === 'number' && ms >= 0 ? Math.min(ms, MOST_WAIT_MS) : undefined;

/** More than a person reads, in characters. */
const LONGEST_TOLD = 1_000;
/** No CRM has longer ids; an index of the store takes no text of any length. */
const LONGEST_ID = 255;
/** A cursor is stored, and given back with each call. */
const LONGEST_CURSOR = 16_384;
/** As many properties as no record has, and as many notes as no person reads. */
const MOST_NAMED = 1_000;

/** Makes {@link AnswerReading.masked}: `mask` hides the secrets of the connection. */
export const maskerFor =
  (mask: (text: string) => string = (text) => text): AnswerReading['masked'] =>
  (text) =>
    cutText(mask(text), LONGEST_TOLD);

/** What is wrong with the shape of an answer, as the end of a sentence: "its read gave no list". */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

/** An object, or a thrown complaint. */
export function readObject(answer: unknown, what: string): AnswerObject {
  if (!isObject(answer) || !isPlain(answer)) throw new ShapeError(`${described(answer)} in place of ${what}`);
  return answer;
}

/** A list, a hole in it as what is missing there, or a thrown complaint. */
export function readList(answer: unknown, what = 'a list'): readonly unknown[] {
  if (!Array.isArray(answer)) throw new ShapeError(`${described(answer)} in place of ${what}`);
  return Array.from<unknown>(answer);
}

/** An id that is to be stored, in its canonical form, or what is wrong with it. */
export function idIn(id: unknown, form: IdForm): string | Flaw {
  if (!isText(id)) return { flaw: `${described(id)} as an id: it is a text` };
  if (id.length > LONGEST_ID) return { flaw: `an id of ${id.length} characters: it has ${LONGEST_ID} at most` };
  return form(id) ?? { flaw: `the record id ${id}, which its own canonicalId takes for none` };
}

/** The same; throws if it is none. */
export function readId(id: unknown, form: IdForm): string {
  const read = idIn(id, form);
  if (typeof read !== 'string') throw new ShapeError(read.flaw);
  return read;
}

/** A cursor, or a thrown complaint. */
export function readCursor(cursor: unknown): string {
  if (!isText(cursor))
    throw new ShapeError(`${described(cursor)} in place of a cursor: it is a text, and absent on the last page`);
  if (cursor.length > LONGEST_CURSOR)
    throw new ShapeError(`a cursor of ${cursor.length} characters: it has ${LONGEST_CURSOR} at most`);
  return cursor;
}

/** Only the properties asked for, or what is wrong with the first that is no value. */
export function valuesOf(properties: unknown, names?: readonly string[]): Values | Flaw {
  if (!isObject(properties) || !isPlain(properties))
    return { flaw: `${described(properties)} in place of properties: they are an object of values by name` };
  const kept: [string, PropertyValue][] = [];
  for (const name of names ?? Object.keys(properties)) {
    const value = Object.hasOwn(properties, name) ? properties[name] : undefined;
    // Absent means that it cannot be read: it is not blank.
    if (value === undefined) continue;
    if (!isValue(value))
      return {
        flaw: `${described(value)} in the property ${name}: a value is a text, a finite number, true, false or null`,
      };
    // No CRM keeps such a text in a property, and each rule that meets it would take long.
    if (typeof value === 'string' && value.length > LONGEST_TEXT)
      return { flaw: `a text of ${value.length} characters in the property ${name}: it has ${LONGEST_TEXT} at most` };
    kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}

/** The reason that a provider gave, which must be a text. */
export const reasonOf = (reason: unknown, { masked }: AnswerReading): string =>
  isText(reason) ? masked(reason) : 'the provider gave no reason';

/** Property → reason; a reason that is no text is none. */
export const reasonsOf = (properties: unknown, reading: AnswerReading): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isObject(properties) ? properties : {})
      .slice(0, MOST_NAMED)
      .map(([name, reason]) => [name, reasonOf(reason, reading)]),
  );

/** Lines for a person, of which the first are masked. */
export const linesOf = (lines: unknown, { masked }: AnswerReading): readonly string[] =>
  (Array.isArray(lines) ? Array.from<unknown>(lines.slice(0, MOST_NAMED)) : []).map((line) =>
    masked(isText(line) ? line : described(line)),
  );
