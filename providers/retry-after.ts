const DIGITS = /^\d{1,10}$/;

/**
 * What a `Retry-After` asks for, in ms from `now`, never below 0: seconds or an HTTP date. Undefined where it is absent or
 * neither. Callers bound it: a receiver may ask for years. https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (DIGITS.test(text)) return Number(text) * 1_000;
  // Date.parse takes much that is no date: an HTTP date begins with the day's name.
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
