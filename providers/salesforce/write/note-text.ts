/** The marker in a note; brackets separate it from markers that begin the same. */
export const tag = (marker: string): string => `[${marker}]`;

/** The text, cut with an ellipsis if it is too long; never inside a surrogate pair. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, Math.max(0, length - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
