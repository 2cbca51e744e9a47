/**
 * Trimming in linear time.
 *
 * A regular expression such as `/\s*%$/` looks for its end from every blank of a run: 40 kB of tabs from a stranger take
 * seconds. These take one pass.
 */

/** The text without any number of these characters at its end. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** A base address without the slashes at its end, so that a path can follow. */
export const withoutSlash = (url: string): string => trimEndOf(url, '/');

/** A share without its percent sign and the blanks before it. */
export const withoutPercent = (share: string): string => {
  const text = share.trimEnd();
  return text.endsWith('%') ? text.slice(0, -1).trimEnd() : share;
};

/** The text with `by` in place of each line break, or several, with the blanks around them. */
export const joinLines = (text: string, by: string): string =>
  text.replace(/\s+/gu, (blank) => (/[\r\n]/u.test(blank) ? by : blank));
