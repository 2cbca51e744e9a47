import { decodeHTMLStrict } from 'entities';
import { withoutTokens } from '../../../protocol/news.ts';

/** The tags to keep, without their attributes. Of all others only the content stays. */
const KEPT = new Set('p br ul ol li b strong i em h1 h2 h3 h4 h5 h6 blockquote table thead tbody tr th td'.split(' '));
const EMPTY = new Set(['br']);
const DEEPEST = 50;
const DROPPED = /<(script|style|template|noscript|iframe|object|svg|math|title|textarea)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;
const COMMENT = /<!--[\s\S]*?(?:-->|$)|<[!?][^<>]*>/g;
const TAG = /<(\/?)([a-z][a-z0-9]*)\b(?:[^<>"']|"[^"]*"|'[^']*')*>/gi;

/**
 * Reduces foreign HTML to a few plain, balanced tags without attributes: nothing in it runs, loads or escapes its
 * place. Entity tokens in it become text. Text without any tag becomes a paragraph. Pure.
 */
export function cleanHtml(html: string): string {
  const source = html.replace(COMMENT, '').replace(DROPPED, '');
  const out: string[] = [];
  const open: string[] = [];
  let at = 0;
  for (const match of source.matchAll(TAG)) {
    const [whole, slash, name = ''] = match;
    out.push(textOf(source.slice(at, match.index)));
    at = match.index + whole.length;
    writeTag({ name: name.toLowerCase(), isEnd: slash !== '' }, open, out);
  }
  out.push(textOf(source.slice(at)));
  while (open.length > 0) close(open.at(-1) ?? '', open, out);
  const clean = out.join('').trim();
  return clean === '' || clean.includes('<') ? clean : `<p>${clean.replace(/\r\n?|\n/g, '<br>')}</p>`;
}

function writeTag({ name, isEnd }: { name: string; isEnd: boolean }, open: string[], out: string[]): void {
  if (!KEPT.has(name)) return;
  if (EMPTY.has(name)) out.push(`<${name}>`);
  else if (isEnd) {
    if (open.includes(name)) close(name, open, out);
  } else if (open.length < DEEPEST) {
    open.push(name);
    out.push(`<${name}>`);
  }
}

function close(name: string, open: string[], out: string[]): void {
  for (let last = open.pop(); last !== undefined; last = open.pop()) {
    out.push(`</${last}>`);
    if (last === name) return;
  }
}

/** Decodes entities first, so that no filter overlooks a character, then escapes the characters of HTML. */
const textOf = (text: string): string =>
  withoutTokens(decodeHTMLStrict(text)).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
