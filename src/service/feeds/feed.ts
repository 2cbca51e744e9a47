/**
 * Reads a feed of press releases (RSS, Atom, RDF or JSON Feed). `feedsmith` reads a cut or broken document as a
 * shorter feed and blocks the thread, so our XML reader first proves that the document is complete, well-formed and
 * small enough.
 */
import type { AtomFeed, JsonFeed, RdfFeed, RssFeed } from 'feedsmith';
import { decoderFor } from '../reports/document/decode.ts';
import { DocumentError } from '../reports/document/facts.ts';
import { readXml, type XmlReader } from '../reports/document/xml.ts';

export interface FeedItem {
  /** Empty if missing. */
  readonly guid: string;
  /** HTML or text, as in the feed. */
  readonly title: string;
  /** Absolute if possible; empty if missing. */
  readonly link: string;
  /** HTML or text, as in the feed; empty if missing. */
  readonly summary: string;
  /** The whole text; empty unless the feed has it in addition to a summary. */
  readonly content: string;
  /** Undefined if missing or unreadable. */
  readonly published: number | undefined;
}

export interface FeedDocument {
  readonly bytes: Uint8Array;
  readonly url: string;
  readonly contentType?: string | undefined;
}

const MOST_ITEMS = 500;
const LONGEST_TEXT = 100_000;
/** Elements and attributes. feedsmith takes 0.25 s for this many on a busy machine, and blocks all other work. */
const MOST_PARTS = 50_000;

type Time = number | undefined;
type Stated = { readonly [key in Exclude<keyof FeedItem, 'published'>]: string | undefined } & {
  readonly published: Time;
  readonly base?: string | undefined;
};

/**
 * The first 500 items of a feed, in order. Throws a {@link DocumentError} if the document is not a feed, is cut, has
 * more than 50,000 elements and attributes, or declares entities.
 */
export async function readFeed(feed: FeedDocument, signal?: AbortSignal): Promise<readonly FeedItem[]> {
  const { bytes, url, contentType = '' } = feed;
  const charset = /\bcharset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  const text = decoderFor(bytes, charset).decode(bytes);
  const root = /^\s*\{/.test(text) ? 'json' : await rootOf(bytes, charset, signal);
  return (await statedItems(root, text, url)).map((item) => itemOf(item, url));
}

/** The local name of the outermost element, in lower case. Reads the whole document. */
async function rootOf(bytes: Uint8Array, charset: string, signal?: AbortSignal): Promise<string> {
  let root = '';
  let parts = 0;
  const reader: XmlReader = {
    open({ local, attributes }) {
      root ||= local.toLowerCase();
      parts += 1 + Object.keys(attributes).length;
      if (parts > MOST_PARTS) throw new DocumentError(`has more than ${MOST_PARTS} elements and attributes`);
    },
    text() {},
    close() {},
  };
  await readXml(bytes, () => reader, signal, { charset, allowsUnknownEntities: true });
  return root;
}

async function statedItems(root: string, text: string, url: string): Promise<readonly Stated[]> {
  // Hundreds of files, which a daemon without feeds need not load.
  const { parseAtomFeed, parseJsonFeed, parseRdfFeed, parseRssFeed } = await import('feedsmith');
  const options = { maxItems: MOST_ITEMS, parseDateFn: timeOf };
  try {
    switch (root) {
      case 'rss': {
        const { items, xml } = parseRssFeed<Time>(text, options);
        return (items ?? []).map((item) => ofRss(item, baseOf(url, xml, item.xml)));
      }
      case 'feed': {
        const { entries, xml } = parseAtomFeed<Time>(text, options);
        return (entries ?? []).map((entry) => ofAtom(entry, baseOf(url, xml, entry.xml)));
      }
      case 'rdf': {
        const { items, xml } = parseRdfFeed<Time>(text, options);
        return (items ?? []).map((item) => ofRdf(item, baseOf(url, xml, item.xml)));
      }
      case 'json':
        return (parseJsonFeed<Time>(text, options).items ?? []).map(ofJson);
      default:
        throw new DocumentError(`is no feed: its outermost element is ${root.slice(0, 40)}`);
    }
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    throw new DocumentError('is no feed that can be read', { cause: error });
  }
}

const ofRss = (item: RssFeed.Item<Time>, base: string | undefined): Stated => ({
  guid: item.guid?.value,
  title: item.title,
  link: item.link ?? articleIn(item.atom?.links),
  summary: item.description ?? item.atom?.summary?.value,
  content: item.content?.encoded ?? item.atom?.content?.value,
  published: item.pubDate ?? item.dc?.dates?.[0] ?? item.atom?.published ?? item.atom?.updated,
  base,
});

const ofAtom = (entry: AtomFeed.Entry<Time>, base: string | undefined): Stated => ({
  guid: entry.id,
  title: entry.title?.value,
  link: articleIn(entry.links),
  summary: entry.summary?.value,
  content: entry.content?.value,
  published: entry.published ?? entry.updated ?? entry.dc?.dates?.[0],
  base,
});

const ofRdf = (item: RdfFeed.Item<Time>, base: string | undefined): Stated => ({
  guid: item.rdf?.about,
  title: item.title,
  link: item.link ?? articleIn(item.atom?.links),
  summary: item.description,
  content: item.content?.encoded,
  published: item.dc?.dates?.[0] ?? item.atom?.published ?? item.atom?.updated,
  base,
});

const ofJson = (item: JsonFeed.Item<Time>): Stated => ({
  guid: item.id,
  title: item.title,
  link: item.url ?? item.external_url,
  summary: item.summary ?? item.content_text,
  content: item.content_html,
  published: item.date_published ?? item.date_modified,
});

/** The link without a relation, or with `alternate`, is the article. */
const articleIn = (links: readonly { href?: string; rel?: string }[] | undefined): string | undefined =>
  links?.find(({ href, rel = 'alternate' }) => href !== undefined && rel === 'alternate')?.href;

const baseOf = (url: string, ...levels: readonly ({ base?: string } | undefined)[]): string =>
  levels.reduce((base, level) => (level?.base === undefined ? base : resolved(level.base, base)), url);

function itemOf(stated: Stated, url: string): FeedItem {
  const text = (value = ''): string => value.slice(0, LONGEST_TEXT).trim();
  const guid = text(stated.guid);
  const link = text(stated.link) || (/^https?:\/\//i.test(guid) ? guid : '');
  return {
    guid,
    title: text(stated.title),
    link: resolved(link, stated.base ?? url),
    summary: text(stated.summary),
    content: text(stated.content),
    published: stated.published,
  };
}

const resolved = (address: string, base: string): string =>
  address === '' || URL.canParse(address) ? address : (URL.parse(address, base)?.href ?? address);

/** RFC 2822 or ISO 8601; UTC without a zone. */
function timeOf(stated: string): Time {
  // Date.parse knows only the American zones.
  const text = stated.replace(/(?<= )CEST$/i, '+0200').replace(/(?<= )CET$/i, '+0100');
  const isIso = /^\d{4}-/.test(text);
  const hasZone = /(?:z|utc?|gmt|[ecmp][ds]t|[+-]\d{2}:?\d{2})\s*$/i.test(text);
  const ms = Date.parse(hasZone || (isIso && text.length <= 10) ? text : `${text}${isIso ? 'Z' : ' GMT'}`);
  return Number.isNaN(ms) ? undefined : ms;
}
