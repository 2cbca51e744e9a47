/** How the text of a note fits Salesforce's fields. */

/** The marker as it stands in a note, told apart from one that merely begins the same. */
export const tag = (marker: string): string => `[${marker}]`;

/** The text, cut to a length with a sign that something is missing; no character is cut in two. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, Math.max(0, length - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
