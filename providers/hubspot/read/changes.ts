/**
 * Reads the changes of companies since a cursor: new, restored, edited and merged ones by a search over the modified
 * date, deleted ones from the list of archived records, once an hour.
 */
import type { ChangeHint, Changes } from '../../provider.ts';
import { type HubspotRecord, MERGED_IDS, mergedIds, readBatch } from '../client/batch.ts';
import type { Apis } from '../client/client.ts';
import { type ArchiveCursor, beginAt, type ChangesCursor, readCursor, writeCursor } from './changes-cursor.ts';
import type { HubspotSchema, ToValues } from './schema.ts';

const MODIFIED = 'hs_lastmodifieddate';
const ID = 'hs_object_id';
const SEARCH_PAGE = 200;
const READ_PAGE = 100;
/** A search request may have 3,000 characters; this much is left for names of properties. */
const NAMES_CHARS = 2_000;
/** How far the search index may lag behind a write: each walk begins this long before the newest change seen. */
const LAG_MS = 10 * 60_000;
const ARCHIVE_EVERY_MS = 3_600_000;
const ARCHIVE_PAGE = 100;

export interface ChangesRequest {
  readonly names: readonly string[];
  /** The cursor of the page before; undefined begins at the newest change. */
  readonly cursor: string | undefined;
  readonly now: number;
}

/** Reads one page of changes: one call, or three if a search cannot hold the names of all properties. */
export async function readChanges(
  apis: Apis,
  schema: HubspotSchema,
  { names, cursor: text, now }: ChangesRequest,
): Promise<Changes> {
  if (text === undefined) {
    const mark = (await newestChange(apis)) ?? apis.serverTime() ?? now;
    return { changeHints: [], cursor: writeCursor(beginAt(mark, now + ARCHIVE_EVERY_MS)), more: false };
  }
  const cursor = readCursor(text, now);
  const isArchiveTurn = cursor.from === undefined && cursor.archive.after !== undefined;
  const { changeHints, next } = isArchiveTurn
    ? await readArchive(apis, cursor, now)
    : await readEdited(apis, cursor, { names, toValues: await schema.valuesOf(apis, names), now });
  return {
    changeHints,
    cursor: writeCursor(next),
    more: next.from !== undefined || next.archive.after !== undefined,
  };
}

interface Step {
  readonly changeHints: readonly ChangeHint[];
  readonly next: ChangesCursor;
}

/**
 * The next page of edited records. Pages follow the modified date, not an offset: an edit between two pages shifts
 * offsets, and offsets end at 10,000.
 */
async function readEdited(
  apis: Apis,
  cursor: ChangesCursor,
  { names, toValues, now }: { readonly names: readonly string[]; readonly toValues: ToValues; readonly now: number },
): Promise<Step> {
  const { mark, tie, archive } = cursor;
  const from = cursor.from ?? mark - LAG_MS;
  const records = await searchPage(apis, from, tie, names);
  const changeHints = records.flatMap((record) => changeHintsOf(record, toValues));
  const times = records.map(({ properties }) => Date.parse(properties[MODIFIED] ?? '')).filter(Number.isFinite);
  const newest = Math.max(from, ...times);
  const reached = Math.max(mark, newest);
  if (records.length >= SEARCH_PAGE) {
    const isStuck = newest === from;
    // Records that share one date come in any order: follow their ids from the first.
    const next = isStuck ? { from, tie: tie === undefined ? '0' : greatestId(records, tie) } : { from: newest };
    return { changeHints, next: { mark: reached, ...next, archive } };
  }
  if (tie !== undefined) return { changeHints, next: { mark: reached, from: from + 1, archive } };
  // Advance to HubSpot's own time: otherwise each walk would report a large edit again.
  const settled = Math.max(reached, apis.serverTime() ?? 0);
  const isDue = now >= archive.dueAt;
  return {
    changeHints,
    next: { mark: settled, archive: isDue ? { ...archive, after: '', startedAt: settled } : archive },
  };
}

async function searchPage(
  apis: Apis,
  from: number,
  tie: string | undefined,
  names: readonly string[],
): Promise<readonly HubspotRecord[]> {
  const fits = names.join('","').length <= NAMES_CHARS;
  const at = String(from);
  const { Operator } = apis;
  const filters =
    tie === undefined
      ? [{ propertyName: MODIFIED, operator: Operator.Gte, value: at }]
      : [
          { propertyName: MODIFIED, operator: Operator.Eq, value: at },
          { propertyName: ID, operator: Operator.Gt, value: tie },
        ];
  const { results } = await apis.search.doSearch({
    filterGroups: [{ filters }],
    sorts: [tie === undefined ? MODIFIED : ID],
    properties: [...new Set([...(fits ? names : []), MERGED_IDS, MODIFIED])],
    limit: SEARCH_PAGE,
  });
  return fits ? results : withProperties(apis, results, names);
}

async function withProperties(
  apis: Apis,
  found: readonly HubspotRecord[],
  names: readonly string[],
): Promise<readonly HubspotRecord[]> {
  const whole = new Map<string, HubspotRecord>();
  for (let at = 0; at < found.length; at += READ_PAGE) {
    const inputs = found.slice(at, at + READ_PAGE).map(({ id }) => ({ id }));
    const { records } = readBatch(await apis.batch.read({ inputs, properties: [...names], propertiesWithHistory: [] }));
    for (const record of records) whole.set(record.id, record);
  }
  return found.map((record) => ({
    ...record,
    properties: { ...whole.get(record.id)?.properties, ...record.properties },
  }));
}

/** One page of the deleted records; HubSpot lists all of the last 90 days. */
async function readArchive(apis: Apis, cursor: ChangesCursor, now: number): Promise<Step> {
  const { archive } = cursor;
  const after = archive.after === '' ? undefined : archive.after;
  const page = await apis.companies.getPage(ARCHIVE_PAGE, after, [MERGED_IDS], undefined, undefined, true);
  const since = archive.since - LAG_MS;
  const gone = page.results.filter(({ archivedAt }) => !(archivedAt !== undefined && archivedAt.getTime() < since));
  const changeHints = gone.map(({ id }): ChangeHint => ({ kind: 'gone', id }));
  const follows = page.paging?.next?.after;
  const next: ArchiveCursor =
    follows === undefined
      ? { since: archive.startedAt ?? archive.since, dueAt: now + ARCHIVE_EVERY_MS }
      : { ...archive, after: follows };
  return { changeHints, next: { mark: cursor.mark, archive: next } };
}

const changeHintsOf = (record: HubspotRecord, toValues: ToValues): readonly ChangeHint[] => [
  ...mergedIds(record).map((id): ChangeHint => ({ kind: 'moved', id, to: record.id })),
  { kind: 'seen', id: record.id, properties: toValues(record.properties) },
];

async function newestChange(apis: Apis): Promise<number | undefined> {
  const { results } = await apis.search.doSearch({ sorts: [`-${MODIFIED}`], properties: [MODIFIED], limit: 1 });
  const time = Date.parse(results[0]?.properties[MODIFIED] ?? '');
  return Number.isFinite(time) ? time : undefined;
}

const greatestId = (records: readonly HubspotRecord[], least: string): string =>
  records.reduce((greatest, { id }) => (BigInt(id) > BigInt(greatest) ? id : greatest), least);
