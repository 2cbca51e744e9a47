/**
 * Trims in linear time. A regular expression such as `/\s*%$/` searches its end from every blank of a run: 40 kB of
 * tabs from a stranger take seconds.
 */

export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Removes the slashes at the end of a base address, so that a path can follow. */
export const withoutSlash = (url: string): string => trimEndOf(url, '/');

export const withoutPercent = (share: string): string => {
  const text = share.trimEnd();
  return text.endsWith('%') ? text.slice(0, -1).trimEnd() : share;
};

/** Replaces each run of line breaks and blanks around them by `by`. */
export const joinLines = (text: string, by: string): string =>
  LINE_BREAK.test(text) ? text.replace(/\s+/gu, (blank) => (LINE_BREAK.test(blank) ? by : blank)) : text;

const LINE_BREAK = /[\r\n]/u;
