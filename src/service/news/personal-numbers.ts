/** Keeps personal numbers out of what is stored. Pure. */

/** Ten digits that begin with a day and a month; a number that stands in for one has 60 added to the day. */
const PERSONAL_NUMBER =
  /(?<!\d)(?:0[1-9]|[12]\d|3[01]|6[1-9]|[78]\d|9[01])[ .]?(?:0[1-9]|1[0-2])[ .]?\d{2} ?[-‐‑–—]? ?\d{4}(?!\d)/g;

/** A text with `[…]` in place of whatever looks like a personal number (ddmmyy-xxxx, however it is spelt). */
export const withoutPersonalNumbers = (text: string): string => text.replace(PERSONAL_NUMBER, '[…]');

/** Whether a field is, by its name, one that holds a personal number or a day of birth. */
export const isPersonalField = (name: string): boolean => /cpr|personnummer|f[øo]dsel|f[øo]dt/i.test(name);
