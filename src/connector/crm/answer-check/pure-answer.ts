/** Answers of the functions of a provider that must be pure: `observe`, `canonicalId`, `idInAddress`, `recordAddress`, `webhook`. */

/** The answer; undefined for a promise, whose rejection would end the process, as nobody waits for it. */
export function pureAnswer<T>(answer: T): T | undefined {
  if (!(answer instanceof Promise)) return answer;
  answer.catch(() => undefined);
  return undefined;
}
