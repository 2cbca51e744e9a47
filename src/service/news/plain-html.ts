/** HTML that others wrote as plain text. Pure. */

const DROPPED = /<(script|style|template|title)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;
const BREAK = /<\/?(?:p|br|div|li|ul|ol|tr|table|h[1-6]|blockquote)\b[^<>]*>/gi;
const TAG = /<!--[\s\S]*?(?:-->|$)|<\/?[a-z!?](?:[^<>"']|"[^"<]*"|'[^'<]*')*>/gi;
const ENTITY =
  /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp|aelig|oslash|aring|AElig|Oslash|Aring|eacute|ndash|mdash|hellip));/g;
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  aelig: 'æ',
  oslash: 'ø',
  aring: 'å',
  AElig: 'Æ',
  Oslash: 'Ø',
  Aring: 'Å',
  eacute: 'é',
  ndash: '–',
  mdash: '—',
  hellip: '…',
};

/** The text of HTML on one line: no tags, entities as their characters. Text without markup stays as it is. */
export function plainHtml(html: string): string {
  return html
    .replace(DROPPED, ' ')
    .replace(BREAK, ' ')
    .replace(TAG, '')
    .replace(ENTITY, (found, decimal: string, hex: string, name: string) => {
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      if (name !== undefined) return NAMED[name] ?? found;
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : found;
    })
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}
