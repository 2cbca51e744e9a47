/** Describes a wrong value for the author of a provider: its type, and its value if that is short. */
import { types } from 'node:util';
import { cutText } from '../../../protocol/text/cut.ts';

const LONGEST = 60;

/** Such as `the number 7` or `an object`. Reads no member of an object, which may throw. */
export function described(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return 'nothing';
    case 'string':
      return value === '' ? 'an empty text' : `the text ${JSON.stringify(cutText(value, LONGEST))}`;
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

/** Whether it is a plain object, not a list, map or promise. */
export const isPlain = (value: object): boolean => kindOf(value) === OBJECT;

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
