/** Cutting long texts. */

/** The text, at most so many UTF-16 units long: cut with a sign that something is missing, and within no character. */
export const cutText = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1)).replace(/[\uD800-\uDBFF]$/u, '')}…`;
