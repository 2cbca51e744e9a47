/** Keeps personal numbers out of what is stored. Pure. */

/**
 * Ten digits that begin with a day and a month, or twelve with the century; a number that stands in for one has 60 added
 * to the day. Between them up to three blanks of any width, points, dashes or slashes, as they are or as HTML entities, or plain tags.
 */
const PERSONAL_NUMBER =
  /(?<!\d)(?:0[1-9]|[12]\d|3[01]|6[1-9]|[78]\d|9[01])(?:[\s./\u00AD\u200B\u2060\uFEFF\u2212\p{Pd}]|&#?[a-zA-Z\d]{1,8};|<\/?[a-z][a-z\d]{0,9}>){0,3}(?:0[1-9]|1[0-2])(?:[\s./\u00AD\u200B\u2060\uFEFF\u2212\p{Pd}]|&#?[a-zA-Z\d]{1,8};|<\/?[a-z][a-z\d]{0,9}>){0,3}(?:18|19|20)?\d{2}(?:[\s./\u00AD\u200B\u2060\uFEFF\u2212\p{Pd}]|&#?[a-zA-Z\d]{1,8};|<\/?[a-z][a-z\d]{0,9}>){0,3}\d{4}(?!\d)/gu;

/** A text, or clean HTML, with `[…]` in place of whatever looks like a personal number (ddmmyy-xxxx, however it is spelt). */
export const withoutPersonalNumbers = (text: string): string => text.replace(PERSONAL_NUMBER, '[…]');

/** Whether a field is, by its name, one that holds a personal number or a day of birth. */
export const isPersonalField = (name: string): boolean => /cpr|personnummer|f[øo]dsel|f[øo]dt/i.test(name);
