/** Pages and files for who may not see persons: of each mail address and c/o name only the first letters are left, wherever it stands. */
import { Readable } from 'node:stream';
import { createElement, isValidElement, toChildArray } from 'preact';
import type { FileBody } from './csv.ts';
import type { Markup } from './html.ts';
import type { PageBody } from './layout.ts';

/** A name of which the first letters are left. */
export const maskName = (name: string): string => name.replaceAll(/(\p{L})[\p{L}\p{M}'’.-]*/gu, '$1•••');

const WORD = /[^\s"'<>,;()]+/gu;
const CARE_OF = /[cC]\/[oO] \p{Lu}[^,;\n"<>]*/gu;

/** A text in which of each mail address only the first letter and the domain are left, and of each name behind "c/o" the first letters. */
export const maskText = (text: string): string =>
  text
    .replaceAll(CARE_OF, (found) => found.slice(0, 4) + maskName(found.slice(4)))
    .replaceAll(WORD, (word) =>
      word
        .split('@')
        .map((part, at, parts) => (at === parts.length - 1 || part === '' ? part : `${[...part][0]}•••`))
        .join('@'),
    );

/** The same page or file, with every text in it masked. */
export function maskPage(page: PageBody | FileBody): PageBody | FileBody {
  if (!('file' in page)) return { ...page, title: maskText(page.title), body: maskMarkup(page.body) };
  const { content } = page;
  return { ...page, content: typeof content === 'string' ? maskText(content) : Readable.from(maskParts(content)) };
}

/** Each part of a file ends with a line. */
async function* maskParts(parts: Readable): AsyncGenerator<string> {
  for await (const part of parts) yield maskText(String(part));
}

/** Texts that an element has beside its content. */
const SPOKEN = ['title', 'aria-label'];

function maskMarkup(markup: Markup): Markup {
  return toChildArray(markup).map((child) => {
    if (typeof child === 'string') return maskText(child);
    if (!isValidElement(child)) return child;
    const { children, ...props } = child.props;
    const spoken = SPOKEN.flatMap((name) => {
      const text: unknown = Reflect.get(props, name);
      return typeof text === 'string' ? [[name, maskText(text)] as const] : [];
    });
    return createElement(
      child.type as string,
      { ...props, ...Object.fromEntries(spoken), key: child.key },
      maskMarkup(children),
    );
  });
}
