/** Makes HTML that somebody else wrote safe to show. Pure. */
import { decodeHTMLStrict } from 'entities';
import { withoutTokens } from '../../../protocol/news.ts';

/** Kept, without their attributes; all other tags go and what they hold stays. */
const KEPT = new Set('p br ul ol li b strong i em h1 h2 h3 h4 h5 h6 blockquote table thead tbody tr th td'.split(' '));
const EMPTY = new Set(['br']);
/** Tags within tags; deeper ones go and what they hold stays. */
const DEEPEST = 50;
/** Gone with what they hold. */
const DROPPED = /<(script|style|template|noscript|iframe|object|svg|math|title|textarea)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;
const COMMENT = /<!--[\s\S]*?(?:-->|$)|<[!?][^<>]*>/g;
const TAG = /<(\/?)([a-z][a-z0-9]*)\b(?:[^<>"']|"[^"]*"|'[^']*')*>/gi;

/**
 * HTML of a few plain tags, balanced, without attributes: nothing in it runs, loads or leaves its place. What looks like
 * an entity token becomes text. Text without any tag becomes a paragraph.
 */
export function cleanHtml(html: string): string {
  const source = html.replace(COMMENT, '').replace(DROPPED, '');
  const out: string[] = [];
  const open: string[] = [];
  let at = 0;
  for (const match of source.matchAll(TAG)) {
    out.push(textOf(source.slice(at, match.index)));
    at = match.index + match[0].length;
    const name = (match[2] ?? '').toLowerCase();
    if (!KEPT.has(name)) continue;
    if (EMPTY.has(name)) out.push(`<${name}>`);
    else if (match[1] === '' && open.length < DEEPEST) {
      open.push(name);
      out.push(`<${name}>`);
    } else if (match[1] !== '' && open.includes(name)) close(name, open, out);
  }
  out.push(textOf(source.slice(at)));
  while (open.length > 0) close(open.at(-1) ?? '', open, out);
  const clean = out.join('').trim();
  return clean === '' || clean.includes('<') ? clean : `<p>${clean.replace(/\r\n?|\n/g, '<br>')}</p>`;
}

/** Closes what is open down to that tag. */
function close(name: string, open: string[], out: string[]): void {
  for (let last = open.pop(); last !== undefined; last = open.pop()) {
    out.push(`</${last}>`);
    if (last === name) return;
  }
}

/** Text between tags: entities become their characters, so that no filter overlooks them; what means something in HTML is escaped. */
const textOf = (text: string): string =>
  withoutTokens(decodeHTMLStrict(text)).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
