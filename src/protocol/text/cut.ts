/** Cuts a text to at most `most` UTF-16 units, marks the cut with `…`, and splits no character. */
export const cutText = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1)).replace(/[\uD800-\uDBFF]$/u, '')}…`;
