/** Assertions of the rules. */
import { inspect, isDeepStrictEqual } from 'node:util';
import { type Misfit, misfitText } from '../../../misfit.ts';
import { ProviderError } from '../../../provider.ts';

/** A broken rule: what was seen. The suite adds the rule's name and why it matters. */
export class BrokenExpectation extends Error {
  override readonly name = 'Broken';
}

export function insist(condition: boolean, seen: string): asserts condition {
  if (!condition) throw new BrokenExpectation(seen);
}

/** Fails if a part that the provider gives does not fit the contract; `giver` names the verb or member. */
export function insistFits(misfit: Misfit | undefined, giver: string): void {
  if (misfit !== undefined) throw new BrokenExpectation(`${giver} gave ${misfitText(misfit)}`);
}

/** Fails unless it is a list of objects without holes. */
export function insistList<T>(list: readonly T[], giver: string): readonly T[] {
  insist(Array.isArray(list), `${giver} gave ${brief(list)}, which is not a list`);
  const wrong = Array.from<unknown>(list).findIndex((member) => typeof member !== 'object' || member === null);
  insist(wrong < 0, `${giver} gave a list with ${brief(list[wrong])} at ${wrong}: each member is an object`);
  return list;
}

export function insistSame(got: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(got, expected)) return;
  throw new BrokenExpectation(`${what}: expected ${brief(expected)}, got ${brief(got)}`);
}

export function brief(value: unknown): string {
  const text = inspect(value, { depth: 4, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 80 });
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

/** The error that a promise ends with; undefined if it succeeds. */
export const thrownBy = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error ?? new Error('rejected without a reason'),
  );

const FAULTS: readonly unknown[] = ['rate', 'auth', 'unavailable', 'locked', 'refused'];

/** Also recognises an error of another copy of this package. */
export const isProviderError = (error: unknown): error is ProviderError =>
  error instanceof ProviderError ||
  (error instanceof Error && error.name === 'ProviderError' && 'fault' in error && FAULTS.includes(error.fault));

/** The fault that a promise ends with; fails if it ends otherwise. */
export async function faultOf(work: Promise<unknown>, what: string): Promise<ProviderError> {
  const ended = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in ended)
    throw new BrokenExpectation(`${what} should be thrown as a ProviderError; instead it gave ${brief(ended.value)}`);
  if (isProviderError(ended.error)) return ended.error;
  throw new BrokenExpectation(`${what} should be thrown as a ProviderError; instead it threw ${brief(ended.error)}`);
}

/** Everything that a log could print of an error: message, stack, causes, own fields. */
export function shown(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? '';
  return `${error.stack ?? error.message} ${inspect(error, { depth: 8 })} ${shown(error.cause)}`;
}
