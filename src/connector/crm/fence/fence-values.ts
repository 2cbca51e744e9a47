/** What answers are made of: lists, ids, values, reasons. Pure; what is thrown here is told as the provider's doing. */
import type { PropertyValue } from '../../../../providers/provider.ts';
import { LONGEST_TEXT } from '../../../protocol/text/shape.ts';
import type { IdForm } from '../record-id.ts';

export type AnswerObject = Readonly<Record<string, unknown>>;
type Values = Readonly<Record<string, PropertyValue>>;
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

/** The wait, no longer than an account can live with; undefined where it is none. */
export const boundedWait = (ms: unknown): number | undefined =>
  typeof ms === 'number' && ms >= 0 ? Math.min(ms, MOST_WAIT_MS) : undefined;

/** What is wrong with the shape of an answer, as the end of a sentence: "its read gave no list". */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

/** A list, or a thrown complaint. */
export function readList(answer: unknown): readonly unknown[] {
  if (!Array.isArray(answer)) throw new ShapeError('no list');
  return answer;
}

/** The canonical form of an id that is to be stored; throws where its own provider refuses it. */
export function canonical(id: string, form: IdForm): string {
  const formed = form(id);
  if (formed === undefined) throw new ShapeError(`the record id ${id}, which its own canonicalId takes for none`);
  return formed;
}

/** No CRM keeps such a text in a property, and each rule that meets it would take long. */
const isTooLong = (value: PropertyValue): boolean => typeof value === 'string' && value.length > LONGEST_TEXT;

/** Only the properties asked for; undefined where one of them is no value. */
export function valuesOf(properties: unknown, names?: readonly string[]): Values | undefined {
  if (!isObject(properties)) return undefined;
  const kept: Record<string, PropertyValue> = {};
  for (const name of names ?? Object.keys(properties)) {
    const value = Object.hasOwn(properties, name) ? properties[name] : undefined;
    // Absent means that it cannot be read: it is not blank.
    if (value === undefined) continue;
    if (!isValue(value) || isTooLong(value)) return undefined;
    kept[name] = value;
  }
  return kept;
}

/** The reason that a provider gave, which must be a text. */
export const reasonOf = (reason: unknown): string => (isText(reason) ? reason : 'the provider gave no reason');

/** Property → reason; a reason that is no text is none. */
export const reasonsOf = (properties: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isObject(properties) ? properties : {}).map(([name, reason]) => [name, reasonOf(reason)]),
  );
