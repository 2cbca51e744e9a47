const DIGITS = /^\d{1,10}$/;

/**
 * Reads `Retry-After` (seconds or an HTTP date) as ms from `now`, never below 0; undefined if it is neither. The caller
 * sets an upper bound: a receiver may ask for years. https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (DIGITS.test(text)) return Number(text) * 1_000;
  // Date.parse takes much that is not a date: an HTTP date begins with the day's name.
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
