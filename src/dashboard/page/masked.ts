/** Masks mail addresses and c/o names in pages and files, for roles that may not see persons. */
import { Readable } from 'node:stream';
import { createElement, isValidElement, toChildArray } from 'preact';
import type { FileBody } from './csv.ts';
import type { Markup } from './html.ts';
import type { PageBody } from './layout.ts';

/** Keeps the first letters of a name. */
export const maskName = (name: string): string => name.replaceAll(/(\p{L})[\p{L}\p{M}'’.-]*/gu, '$1•••');

const WORD = /[^\s"'<>,;()]+/gu;
const CARE_OF = /[cC]\/[oO] \p{Lu}[^,;\n"<>]*/gu;

/** Keeps the first letter and the domain of each mail address, and the first letters of each name after "c/o". */
export const maskText = (text: string): string =>
  text
    .replaceAll(CARE_OF, (found) => found.slice(0, 4) + maskName(found.slice(4)))
    .replaceAll(WORD, (word) =>
      word
        .split('@')
        .map((part, at, parts) => (at === parts.length - 1 || part === '' ? part : `${[...part][0]}•••`))
        .join('@'),
    );

export function maskPage(page: PageBody | FileBody): PageBody | FileBody {
  if (!('file' in page)) return { ...page, title: maskText(page.title), body: maskMarkup(page.body) };
  const { content } = page;
  return { ...page, content: typeof content === 'string' ? maskText(content) : Readable.from(maskParts(content)) };
}

/** Each part of a file ends with a line. */
async function* maskParts(parts: Readable): AsyncGenerator<string> {
  for await (const part of parts) yield maskText(String(part));
}

/** Attributes that hold text. */
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
