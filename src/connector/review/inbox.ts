/** The inbox: everything that waits for a person, differences last, page by page and by facets. */

import type { Db } from '../../store/store.ts';
import type { DifferenceFilter } from '../history/difference-rows.ts';
import { countDifferences, type Difference, readDifferences } from '../history/differences.ts';
import { UNDECIDED_SOURCE } from './record-entries.ts';
import {
  type EntryPlace,
  KINDS_OF_CONNECTIONS,
  partsOf,
  type ReviewEntry,
  type ReviewKind,
  type ReviewSource,
  readReviewId,
} from './review-kinds.ts';
import {
  countByKind,
  countSources,
  DIFFERENCE_SOURCE,
  differenceEntry,
  type ReviewCount,
  SOURCES,
  totalOf,
} from './review-list.ts';

export interface InboxFilter {
  readonly kind?: ReviewKind | undefined;
  /** Of kinds whose entries are each of one connection. */
  readonly provider?: string | undefined;
  /** Of differences. */
  readonly property?: string | undefined;
}

/** The last entry of a page, and the number of the source that it is from. */
export interface InboxPlace extends EntryPlace {
  readonly source: number;
}

export interface InboxEntry extends ReviewEntry {
  /** Of a difference: both sides, and whose they are. */
  readonly difference?: Difference;
}

export interface InboxPage {
  readonly entries: readonly InboxEntry[];
  /** Where the next page begins; undefined on the last one. */
  readonly next: InboxPlace | undefined;
}

const INBOX_SOURCES: readonly ReviewSource[] = SOURCES.map((source) =>
  source.kind === 'match' ? UNDECIDED_SOURCE : source,
);
/** The number of the source of differences, which are no fault. */
const DIFFERENCES = INBOX_SOURCES.length;

const isMeant = ({ kind, provider, property }: InboxFilter, of: ReviewKind): boolean =>
  (kind === undefined || kind === of) &&
  (provider === undefined || KINDS_OF_CONNECTIONS.includes(of)) &&
  (property === undefined || of === 'difference');

/** Reads a page. Every source goes on along its index, and reads no more than the page holds. */
export async function readInbox(
  db: Db,
  now: number,
  filter: InboxFilter & { readonly after?: InboxPlace | undefined },
  size: number,
): Promise<InboxPage> {
  const { after } = filter;
  const found: (InboxEntry & { readonly source: number })[] = [];
  for (let source = after?.source ?? 0; source <= DIFFERENCES && found.length <= size; source += 1) {
    const place = source === after?.source ? after : undefined;
    const some = await readSource(db, now, { ...filter, source, place }, size + 1 - found.length);
    found.push(...some.map((entry) => ({ ...entry, source })));
  }
  const entries = found.slice(0, size);
  return { entries, next: found.length > size ? entries.at(-1) : undefined };
}

type SourceFilter = InboxFilter & { readonly source: number; readonly place: EntryPlace | undefined };

async function readSource(
  db: Db,
  now: number,
  { source, place: after, ...filter }: SourceFilter,
  limit: number,
): Promise<readonly InboxEntry[]> {
  if (source === DIFFERENCES) {
    if (!isMeant(filter, 'difference')) return [];
    return (await readDifferences(db, now, { ...narrow(filter), after: difference(after) }, limit)).map(inboxEntry);
  }
  const each = INBOX_SOURCES[source];
  if (each === undefined || !isMeant(filter, each.kind)) return [];
  if (after === undefined || !SHORT.has(each.kind))
    return each.read(db, now, limit, { provider: filter.provider, after });
  const all = await each.read(db, now, Number.MAX_SAFE_INTEGER);
  const at = all.findIndex(({ id }) => id === after.id);
  return at === -1 ? [] : all.slice(at + 1, at + 1 + limit);
}

/** Kinds of which there are few: accounts, monitors, and one sender. */
const SHORT: ReadonlySet<ReviewKind> = new Set(['account', 'mail', 'sender']);

const inboxEntry = (one: Difference): InboxEntry => ({ ...differenceEntry(one), difference: one });

const narrow = ({ provider, property }: InboxFilter): DifferenceFilter => ({ provider, property });

function difference(after: EntryPlace | undefined): DifferenceFilter['after'] {
  const [provider, recordId, property] = partsOf(after) ?? [];
  if (provider === undefined || recordId === undefined || property === undefined) return undefined;
  return { provider, recordId, property };
}

/** One difference by its id, for a page that does not list it; undefined if it does not wait. */
export async function findDifference(db: Db, now: number, id: string): Promise<InboxEntry | undefined> {
  const named = readReviewId(id);
  if (named?.kind !== 'difference') return undefined;
  const [provider, recordId, property] = named.parts;
  const [found] = await readDifferences(db, now, { provider, recordId, property }, 1);
  return found && inboxEntry(found);
}

/** How many entries wait under a filter, counted up to `most`. */
export async function countInbox(db: Db, now: number, filter: InboxFilter, most: number): Promise<number> {
  if (filter.property !== undefined)
    return isMeant(filter, 'difference') ? countDifferences(db, now, narrow(filter), most) : 0;
  const sources = [...INBOX_SOURCES, DIFFERENCE_SOURCE].filter(({ kind }) => isMeant(filter, kind));
  return totalOf(await countSources(db, now, sources, { most, provider: filter.provider }), most);
}

/** How many entries of each kind wait, counted up to `most`. */
export const countInboxByKind = (db: Db, now: number, most: number): Promise<readonly ReviewCount[]> =>
  countByKind(db, now, { most, sources: [...INBOX_SOURCES, DIFFERENCE_SOURCE] });
