/**
 * Reads RSS 2.0 (and its older kin) and Atom: the items of a feed in one shape. Elements are told by their names, since
 * feeds are careless with namespaces. Entities and document types of a feed's own are refused, see xml.ts.
 */
import { readXml, type Tag, type XmlReader } from '../../reports/document/xml.ts';

export interface FeedItem {
  /** The guid or id, else the link; empty where there is neither. */
  readonly id: string;
  /** HTML or text, as it stands. */
  readonly title: string;
  /** Empty where there is none. */
  readonly link: string;
  /** HTML or text, as it stands; empty where there is none. */
  readonly summary: string;
  /** The whole text where the feed has it beside a summary; else empty. */
  readonly content: string;
  /** Ms since 1970; undefined where it is not stated or cannot be read. */
  readonly published: number | undefined;
}

const MOST_ITEMS = 500;
const LONGEST_TEXT = 100_000;

type Part = 'id' | 'title' | 'link' | 'summary' | 'content' | 'published' | 'updated';

/** Elements of items by local name. Of several for one part the first that is filled counts. */
const PARTS: Readonly<Record<string, Part>> = {
  guid: 'id',
  id: 'id',
  title: 'title',
  link: 'link',
  description: 'summary',
  summary: 'summary',
  encoded: 'content',
  content: 'content',
  pubDate: 'published',
  published: 'published',
  date: 'published',
  issued: 'published',
  updated: 'updated',
};

/** The first 500 items of a feed in its order. Throws a DocumentError where it is no XML, cut, or declares entities. */
export async function readFeed(bytes: Uint8Array, signal?: AbortSignal): Promise<readonly FeedItem[]> {
  const reader = feedReader();
  await readXml(bytes, () => reader, signal);
  return reader.items;
}

function feedReader(): XmlReader & { readonly items: FeedItem[] } {
  const items: FeedItem[] = [];
  let depth = 0;
  /** Depth of the item that is being read, and of its part. */
  let itemAt = 0;
  let partAt = 0;
  let part: Part | undefined;
  let text = '';
  let parts: Partial<Record<Part, string>> = {};

  return {
    items,
    open(tag) {
      depth++;
      if (itemAt === 0 && (tag.local === 'item' || tag.local === 'entry')) {
        itemAt = depth;
        parts = {};
        return;
      }
      if (itemAt === 0) return;
      if (part !== undefined) {
        // XHTML inside: its text counts, with a tag in between so that words do not run together.
        text += '<br>';
        return;
      }
      const name = depth === itemAt + 1 && !isMedia(tag) ? PARTS[tag.local] : undefined;
      if (name === undefined) return;
      part = name;
      partAt = depth;
      text = name === 'link' ? linkOf(tag) : '';
    },
    text(more) {
      if (part !== undefined && text.length < LONGEST_TEXT) text += more;
    },
    close() {
      if (part !== undefined && depth === partAt) {
        const value = text.slice(0, LONGEST_TEXT).trim();
        if ((parts[part] ?? '') === '') parts[part] = value;
        part = undefined;
      }
      if (itemAt !== 0 && depth === itemAt) {
        if (items.length < MOST_ITEMS) items.push(itemOf(parts));
        itemAt = 0;
      }
      depth--;
    },
  };
}

/** Titles and descriptions of pictures. */
const isMedia = ({ uri }: Tag): boolean => uri.includes('search.yahoo.com/mrss') || uri.includes('itunes');

/** Atom's address is an attribute, and of several relations the article itself is the one without or `alternate`. */
function linkOf({ attributes }: Tag): string {
  const { href, rel } = attributes;
  return href !== undefined && (rel === undefined || rel.value === 'alternate') ? href.value : '';
}

function itemOf(parts: Partial<Record<Part, string>>): FeedItem {
  const { id = '', title = '', link = '', summary = '', content = '', published = '', updated = '' } = parts;
  const address = link === '' && /^https?:\/\//i.test(id) ? id : link;
  return { id: id || address, title, link: address, summary, content, published: timeOf(published) ?? timeOf(updated) };
}

/** RFC 2822 or ISO 8601; without a zone it is UTC. */
function timeOf(stated: string): number | undefined {
  if (stated === '') return undefined;
  // Date.parse knows the American zones alone.
  const text = stated.replace(/(?<= )CEST$/i, '+0200').replace(/(?<= )CET$/i, '+0100');
  const isIso = /^\d{4}-/.test(text);
  const hasZone = /(?:z|utc?|gmt|[ecmp][ds]t|[+-]\d{2}:?\d{2})\s*$/i.test(text);
  const ms = Date.parse(hasZone || (isIso && text.length <= 10) ? text : `${text}${isIso ? 'Z' : ' GMT'}`);
  return Number.isNaN(ms) ? undefined : ms;
}
