/** Sentences that name entities, as plain text or HTML with entity tokens. Pure. */
import { entityToken, escapeHtml, withoutTokens } from '../../../protocol/news.ts';

export interface Named {
  readonly entityId: string;
  readonly name: string;
}

export type Phrase = readonly (string | Named)[];

export type ArticleBlock =
  | { readonly kind: 'paragraph'; readonly text: Phrase }
  | { readonly kind: 'list'; readonly title: string | undefined; readonly lines: readonly Phrase[] }
  | { readonly kind: 'link'; readonly text: string; readonly href: string }
  /** Foreign HTML, made safe by {@link cleanHtml}. */
  | { readonly kind: 'html'; readonly html: string };

/** Fills the `[name]` placeholders of a template. Throws if the template names a missing part. */
export function fill(template: string, parts: Readonly<Record<string, Phrase>>): Phrase {
  return template.split(/\[(\w+)\]/).flatMap((text, at): Phrase => {
    if (at % 2 === 0) return text === '' ? [] : [text];
    const part = parts[text];
    if (part === undefined) throw new Error(`the template "${template}" names [${text}], which is not given`);
    return part;
  });
}

/** "A", "A og B", "A, B og C". */
export function list(phrases: readonly Phrase[]): Phrase {
  return phrases.flatMap((phrase, at): Phrase => {
    if (at === 0) return phrase;
    return [at === phrases.length - 1 ? ' og ' : ', ', ...phrase];
  });
}

/** The first ones, and how many others: "A, B, C og 4 andre". */
export function shortList(phrases: readonly Phrase[], most: number, others = 'andre'): Phrase {
  const left = phrases.length - most;
  return left < 2 ? list(phrases) : list([...phrases.slice(0, most), [`${left} ${others}`]]);
}

/** As plain text with tokens, on one line. */
export const asText = (phrase: Phrase): string =>
  phrase
    .map((part) => (typeof part === 'string' ? withoutTokens(part) : entityToken(part.name, part.entityId)))
    .join('')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();

/** As HTML with tokens; keeps line breaks. */
const asHtml = (phrase: Phrase): string =>
  phrase
    .map((part) =>
      typeof part === 'string'
        ? escapeHtml(withoutTokens(part)).replace(/\r\n?|\n/g, '<br>')
        : entityToken(escapeHtml(part.name), part.entityId),
    )
    .join('');

/** Content as HTML with tokens. Leaves out links that are not web addresses. */
export const contentOf = (blocks: readonly ArticleBlock[]): string => blocks.map(htmlOf).join('');

function htmlOf(block: ArticleBlock): string {
  switch (block.kind) {
    case 'paragraph':
      return `<p>${asHtml(block.text)}</p>`;
    case 'list': {
      const title = block.title === undefined ? '' : `<p>${asHtml([block.title])}:</p>`;
      return `${title}<ul>${block.lines.map((line) => `<li>${asHtml(line)}</li>`).join('')}</ul>`;
    }
    case 'link':
      return isWebAddress(block.href)
        ? `<p><a href="${escapeHtml(withoutTokens(block.href))}">${escapeHtml(block.text)}</a></p>`
        : '';
    case 'html':
      return block.html;
  }
}

export const isWebAddress = (address: string): boolean => /^https?:\/\/\S+$/i.test(address) && URL.canParse(address);

export function namedIn(phrases: readonly Phrase[]): readonly Named[] {
  const found = new Map<string, Named>();
  for (const part of phrases.flat())
    if (typeof part !== 'string' && !found.has(part.entityId)) found.set(part.entityId, part);
  return [...found.values()];
}

export const phrasesIn = (blocks: readonly ArticleBlock[]): readonly Phrase[] =>
  blocks.flatMap((block) => {
    if (block.kind === 'paragraph') return [block.text];
    return block.kind === 'list' ? block.lines : [];
  });
