/** Texts of thrown values, which may not be errors and may throw when read. */
import { inspect } from 'node:util';
import { cutText } from './cut.ts';

export function errorText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  return textIn(error, 'message') ?? shown(error);
}

const stackText = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null ? textIn(error, 'stack') : undefined;

function textIn(error: object, key: string): string | undefined {
  try {
    const text: unknown = Reflect.get(error, key);
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The value may be circular, a proxy, or throw when read. */
function shown(value: object): string {
  try {
    return inspect(value, {
      depth: 1,
      breakLength: Infinity,
      customInspect: false,
      maxArrayLength: 10,
      maxStringLength: 200,
    });
  } catch {
    return 'something that cannot be shown';
  }
}

const MOST_CAUSES = 5;
const MOST_SEARCHED = 10;

/** The messages of an error's causes, outermost first, without repetitions. */
export function causesOf(error: unknown): readonly string[] {
  const messages = [errorText(error)];
  let cause = causeOf(error);
  for (let depth = 0; cause !== undefined && depth < MOST_CAUSES; depth += 1) {
    const reason = errorText(cause);
    if (!messages.some((text) => text.includes(reason))) messages.push(reason);
    cause = causeOf(cause);
  }
  return messages.slice(1);
}

function causeOf(error: unknown): unknown {
  try {
    return error instanceof Error ? error.cause : undefined;
  } catch {
    return undefined;
  }
}

export function findCause<E extends Error>(error: unknown, type: abstract new (...args: never[]) => E): E | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < MOST_SEARCHED; each = causeOf(each), depth += 1)
    if (each instanceof type) return each;
  return undefined;
}

export const fullErrorText = (error: unknown): string => [errorText(error), ...causesOf(error)].join(': ');

const LONGEST_MESSAGE = 1_000;
const LONGEST_STACK = 8_000;

/** Copies a thrown value and its causes to plain, bounded errors that are safe to read. */
export function plainError(thrown: unknown, causes = MOST_CAUSES): Error {
  const cause = causes > 0 ? causeOf(thrown) : undefined;
  const error = new Error(
    cutText(errorText(thrown), LONGEST_MESSAGE),
    cause === undefined ? undefined : { cause: plainError(cause, causes - 1) },
  );
  error.stack = cutText(stackText(thrown) ?? error.message, LONGEST_STACK);
  return error;
}
