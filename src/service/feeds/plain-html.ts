import { decodeHTMLStrict } from 'entities';

const DROPPED = /<(script|style|template|title)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;
const BREAK = /<\/?(?:p|br|div|li|ul|ol|tr|table|h[1-6]|blockquote)\b[^<>]*>/gi;
const TAG = /<!--[\s\S]*?(?:-->|$)|<\/?[a-z!?](?:[^<>"']|"[^"<]*"|'[^'<]*')*>/gi;

/**
 * The text of foreign HTML on one line: no tags, entities as their characters. Does not change text without markup.
 * Pure.
 */
export function plainHtml(html: string): string {
  return decodeHTMLStrict(html.replace(DROPPED, ' ').replace(BREAK, ' ').replace(TAG, ''))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}
