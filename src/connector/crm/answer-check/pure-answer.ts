/** Answers of a provider's pure functions: `observe`, `canonicalId`, `idInAddress`, `recordAddress`, `webhook`. */

/** Undefined for a promise. Nobody awaits it, so its rejection would end the process. */
export function pureAnswer<T>(answer: T): T | undefined {
  if (!(answer instanceof Promise)) return answer;
  answer.catch(() => undefined);
  return undefined;
}
