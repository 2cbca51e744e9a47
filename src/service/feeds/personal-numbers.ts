/**
 * Ten digits that begin with a day and a month, or twelve with the century; a substitute number has 60 added to the
 * day. Between day, month, year and the last four digits there may be up to three spaces of any width, points, dashes,
 * slashes, underscores or dots, plain or as HTML entities, or plain tags; or one other character that is not a letter.
 */
const PERSONAL_NUMBER =
  /(?<!\d)(?:0[1-9]|[12]\d|3[01]|6[1-9]|[78]\d|9[01])(?:[^\p{L}\p{N}]|(?:[\s./_\u00B7\u2022\u2027\u2219\u22C5\u30FB\u2212\p{Pd}]|&#?[a-zA-Z\d]{1,8};|<\/?[a-z][a-z\d]{0,9}>){0,3})(?:0[1-9]|1[0-2])(?:[^\p{L}\p{N}]|(?:[\s./_\u00B7\u2022\u2027\u2219\u22C5\u30FB\u2212\p{Pd}]|&#?[a-zA-Z\d]{1,8};|<\/?[a-z][a-z\d]{0,9}>){0,3})(?:18|19|20)?\d{2}(?:[^\p{L}\p{N}]|(?:[\s./_\u00B7\u2022\u2027\u2219\u22C5\u30FB\u2212\p{Pd}]|&#?[a-zA-Z\d]{1,8};|<\/?[a-z][a-z\d]{0,9}>){0,3})\d{4}(?!\d)/gu;

/** The same number, separated after every two digits. */
const PAIRS =
  /\d\d(?:,|[\s./_\u00B7\u2022\u2027\u2219\u22C5\u30FB\u2212\p{Pd}]{1,3}|<\/t[dh]><t[dh]>)\d\d(?:,|[\s./_\u00B7\u2022\u2027\u2219\u22C5\u30FB\u2212\p{Pd}]{1,3}|<\/t[dh]><t[dh]>)\d\d(?:,|[\s./_\u00B7\u2022\u2027\u2219\u22C5\u30FB\u2212\p{Pd}]{1,3}|<\/t[dh]><t[dh]>)(?:\d\d(?:,|[\s./_\u00B7\u2022\u2027\u2219\u22C5\u30FB\u2212\p{Pd}]{1,3}|<\/t[dh]><t[dh]>))?\d\d(?:,|[\s./_\u00B7\u2022\u2027\u2219\u22C5\u30FB\u2212\p{Pd}]{1,3}|<\/t[dh]><t[dh]>)\d\d/gu;
const DIGITS = /^(?:0[1-9]|[12]\d|3[01]|6[1-9]|[78]\d|9[01])(?:0[1-9]|1[0-2])(?:18|19|20)?\d{6}$/;

/**
 * Replaces everything in a text or clean HTML that looks like a personal number (ddmmyy-xxxx, in any spelling) by
 * `[…]`. Pure.
 */
export const withoutPersonalNumbers = (text: string): string =>
  without(without(text, PERSONAL_NUMBER), PAIRS, isPaired);

/** Whether the name of a field says that it holds a personal number or a date of birth. */
export const isPersonalField = (name: string): boolean => /cpr|personnummer|f[øo]dsel|f[øo]dt/i.test(name);

function without(
  text: string,
  expression: RegExp,
  isMeant: (found: string, before: string, behind: string) => boolean = () => true,
): string {
  const { seen, places } = asSeen(text);
  let kept = '';
  let from = 0;
  for (const { 0: found, index } of seen.matchAll(expression)) {
    const last = index + found.length - 1;
    if (!isMeant(found, seen.slice(Math.max(0, index - 4), index), seen.slice(last + 1, last + 5))) continue;
    kept += `${text.slice(from, places?.[index]?.start ?? index)}[…]`;
    from = places?.[last]?.end ?? last + 1;
  }
  return kept + text.slice(from);
}

const PLAIN = /^[\0-\x7F\u00C0-\u024F]*$/;
const INVISIBLE = /[\p{Cf}\p{M}]/u;

interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * The text in the plain form of each character (NFKC) without invisible ones, with the original position of each,
 * unless the text is unchanged.
 */
function asSeen(text: string): { readonly seen: string; readonly places?: readonly Place[] } {
  if (PLAIN.test(text)) return { seen: text };
  const places: Place[] = [];
  let seen = '';
  let at = 0;
  for (const character of text) {
    const plain = INVISIBLE.test(character) ? '' : character.normalize('NFKC');
    // A fraction, or a sign of several characters, is not a digit of a number.
    const one = plain.length > 1 && plain !== character ? '?' : plain;
    seen += one;
    const place = { start: at, end: at + character.length };
    for (let each = 0; each < one.length; each++) places.push(place);
    at = place.end;
  }
  return { seen, places };
}

/** A digit next to a match, with or without a separator. */
const BEFORE = /\d(?:,|[\s./_\u00B7\u2022\u2027\u2219\u22C5\u30FB\u2212\p{Pd}]{0,3})$/u;
const BEHIND = /^(?:,|[\s./_\u00B7\u2022\u2027\u2219\u22C5\u30FB\u2212\p{Pd}]{0,3})\d/u;

/** Whether pairs belong to one number: equally separated, and not part of a row of phone numbers. */
function isPaired(found: string, before: string, behind: string): boolean {
  const [first, ...rest] = found.slice(2, -2).split(/\d\d/);
  return (
    !BEFORE.test(before) &&
    !BEHIND.test(behind) &&
    DIGITS.test(found.replaceAll(/\D/g, '')) &&
    rest.every((separator) => separator === first)
  );
}
