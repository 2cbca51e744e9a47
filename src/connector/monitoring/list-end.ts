/** Stops reading a list whose pages never end. */
import { createHash } from 'node:crypto';
import type { ListRead } from '../../protocol/api.ts';

/** The most that cvrsync reads of a list: three times as many companies as Denmark has. */
export interface ListCeiling {
  readonly pages: number;
  readonly items: number;
}
const CEILING: ListCeiling = { pages: 20_000, items: 3_000_000 };

const MOST_EMPTY = 10;
const LONGEST_TOKEN = 4_096;

type Page = ListRead<object> & { readonly ok: true };

/**
 * Watches the pages of one list with `take` entries each. Call it with each page; it returns the token of the next one,
 * undefined after the last. Throws the error of `fail` if the list cannot end.
 */
export function watchPages(
  take: number,
  fail: (reason: string) => Error,
  ceiling: ListCeiling = CEILING,
): (page: Page) => string | undefined {
  const seen = new Set<string>();
  let pages = 0;
  let items = 0;
  let empty = 0;
  const isNew = (text: string): boolean => {
    const digest = createHash('sha256').update(text).digest('base64');
    if (seen.has(digest)) return false;
    seen.add(digest);
    return true;
  };
  const repeatOf = ({ entries, continuationToken: token = '' }: Page): string | undefined => {
    if (token.length > LONGEST_TOKEN) return `a continuationToken has more than ${LONGEST_TOKEN} characters`;
    if (!isNew(`token ${token}`)) return 'a continuationToken came twice';
    return entries.length === 0 || isNew(JSON.stringify(entries)) ? undefined : 'a page came twice';
  };
  const excessOf = ({ total }: Page): string | undefined => {
    if (empty > MOST_EMPTY) return `${empty} pages in a row are empty`;
    // One page more, since items are added during the read.
    if (total !== undefined && items > total + take) return `${items} items came of ${total}`;
    if (pages >= ceiling.pages) return `cvrsync reads ${ceiling.pages} pages of a list at most`;
    if (items >= ceiling.items) return `cvrsync reads ${ceiling.items} items of a list at most`;
    return undefined;
  };
  return (page) => {
    pages += 1;
    items += page.entries.length;
    empty = page.entries.length === 0 ? empty + 1 : 0;
    if (page.continuationToken === undefined || page.hasMore === false) return undefined;
    const problem = repeatOf(page) ?? excessOf(page);
    if (problem !== undefined) throw fail(problem);
    return page.continuationToken;
  };
}
