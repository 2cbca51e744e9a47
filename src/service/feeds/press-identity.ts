/**
 * Recognises which items of a feed are the same article: by guid, else by link, else by content. Some feeds give one
 * guid to several items, and others give an item a new guid at each poll. So an item has several keys, any of which
 * identifies it, and a key counts only if no two items of one poll have it.
 */
import type { FeedItem } from './feed.ts';
import { digest } from './press-state.ts';

export interface IdentifiedItem {
  readonly item: FeedItem;
  /** Items that share one of these are the same article. */
  readonly keys: readonly string[];
  /** Equal in every feed that has the article. */
  readonly id: string;
}

/**
 * A key, and the content that the key leaves out: two items of one poll with the same key and different rest are two
 * articles.
 */
interface Candidate {
  readonly key: string;
  readonly rest: string;
}

/** An item has several such keys, so they are half as long. */
const joint = (...parts: readonly string[]): string => digest(JSON.stringify(parts)).slice(0, 11);

export function identify(items: readonly FeedItem[]): readonly IdentifiedItem[] {
  const rests = new Map<string, Set<string>>();
  const all = items.map((item) => ({ item, candidates: candidatesOf(item) }));
  for (const { key, rest } of all.flatMap(({ candidates }) => candidates))
    rests.set(key, (rests.get(key) ?? new Set()).add(rest));
  const known = new Set<string>();
  return all.flatMap(({ item, candidates }) => {
    const keys = candidates.map(({ key }) => key).filter((key) => rests.get(key)?.size === 1);
    const isKnown = keys.some((key) => known.has(key));
    for (const key of keys) known.add(key);
    return isKnown ? [] : [{ item, keys, id: idOf(item, keys) }];
  });
}

function candidatesOf({ guid, link, title, summary, published }: FeedItem): readonly Candidate[] {
  const content = `${title}\n${summary}`;
  if (guid === '' && link === '') return [{ key: digest(content), rest: '' }];
  return [
    { key: digest(guid || link), rest: content },
    ...(guid === '' || link === '' ? [] : [{ key: joint('both', guid, link), rest: content }]),
    ...(guid === '' ? [] : [{ key: joint('guid', guid, content), rest: '' }]),
    ...(link === '' ? [] : [{ key: joint('link', link, content), rest: '' }]),
    ...(published === undefined ? [] : [{ key: joint('time', `${published}`, content), rest: `${guid}\n${link}` }]),
  ];
}

/** A guid alone identifies nothing across feeds, which may use it for different articles. */
const idOf = ({ guid }: FeedItem, keys: readonly string[]): string =>
  keys.find((key) => guid === '' || key !== digest(guid)) ?? '';
