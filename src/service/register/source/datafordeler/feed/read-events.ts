/**
 * Reads the feed of changes. A change of a unit deletes all of its rows and inserts all of them again, so that the
 * events only say that a unit was registered once more. A deleted row bears the number of the import that had brought
 * it: only the event's own number orders the feed.
 */

import { isJsonObject, type JsonObject } from '../../../../../protocol/text/json.ts';
import { normaliseTime } from '../../../../../protocol/text/time.ts';
import { whole } from '../../../document/fields.ts';
import { SourceError } from '../../source.ts';
import { type DafEntity, type DafRow, entityNamed } from '../rows.ts';
import { type DafClient, RootRefused } from './client.ts';
import { EVENTS_QUERY, STATUS_QUERY } from './queries.ts';
import { pageIn } from './read-rows.ts';

/** Rows that the feed announces of one entity of a unit. */
export interface Announced {
  readonly rowIds: string[];
  /** The number of their import; rows of an older one are not those. */
  sequence: number;
}

/** What the events of a window say of one unit. */
export interface UnitEvents {
  readonly id: string;
  readonly inserted: Map<DafEntity, Announced>;
  /** Whether they are a whole registration: the unit itself was inserted. */
  isWhole: boolean;
  /** When Datafordeler loaded the newest, ISO 8601 UTC; null if it does not say. */
  loadedAt: string | null;
}

export interface EventWindow {
  /** By the order of their last events. */
  readonly units: readonly UnitEvents[];
  /** Every event up to this number is in the window. */
  readonly upTo: number;
  readonly loadedAt: string | null;
  /** The number of the first event that should be there and is not. */
  readonly missing?: number;
}

interface FeedEvent {
  readonly number: number;
  readonly unit: string | undefined;
  readonly entity: DafEntity | undefined;
  readonly isInsert: boolean;
  readonly rowId: string | undefined;
  readonly sequence: number;
  readonly loadedAt: string | null;
}

/** An event that is missing for this long, or is followed by one that is older than this, will not come. */
const GAP_MS = 10 * 60_000;

/** The number of the last event that is wholly there. */
export async function readWaterMark(client: DafClient, signal: AbortSignal): Promise<number> {
  const status = await essential(
    client,
    { root: 'DAF_RegisterImportStatus', query: STATUS_QUERY, variables: {} },
    signal,
  );
  const mark = whole(isJsonObject(status) ? status['lastEventId'] : undefined);
  if (mark === null) throw new SourceError('Datafordeler does not say how far its events go');
  return mark;
}

interface Question {
  readonly root: string;
  readonly query: string;
  readonly variables: JsonObject;
}

/** Without these roots there is no feed: a refusal means that the user has no access at all. */
async function essential(
  client: DafClient,
  { root, query, variables }: Question,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await client.ask(root, query, variables, signal);
  } catch (error) {
    if (error instanceof RootRefused) throw noAccess(error);
    throw error;
  }
}

export const noAccess = (error: Error): SourceError =>
  new SourceError(`${error.message}: check service.register.apiKey or oauth, and when the key ends`, {
    retryAfterMs: 60_000,
  });

const eventOf = (row: DafRow): FeedEvent => ({
  number: whole(row['eventid']) ?? 0,
  unit: typeof row['object_id'] === 'string' ? row['object_id'] : undefined,
  entity: typeof row['entityname'] === 'string' ? entityNamed(row['entityname']) : undefined,
  // An update was never seen; it would announce a row as an insert does.
  isInsert: row['eventaction'] !== 'd',
  rowId: typeof row['object_datafordelerRowId'] === 'string' ? row['object_datafordelerRowId'] : undefined,
  sequence: whole(row['datafordelerRegisterImportSequenceNumber']) ?? 0,
  loadedAt: timeIn(row['datafordelerOpdateringstid']),
});

export const timeIn = (value: unknown): string | null =>
  (typeof value === 'string' ? normaliseTime(value) : undefined) ?? null;

export const laterTime = (a: string | null, b: string | null): string | null =>
  a === null || (b !== null && b > a) ? b : a;

/** Reads at most `size` events after a number, up to the water mark. A unit whose events go on is left for the next window. */
export async function readEvents(
  client: DafClient,
  place: { readonly after: number; readonly mark: number; readonly size: number; readonly gapSince?: number },
  how: { readonly now: number; readonly signal: AbortSignal },
): Promise<EventWindow> {
  const { after, mark, size } = place;
  const end = Math.min(after + size, mark);
  const rows: DafRow[] = [];
  let next: string | null = null;
  do {
    const variables = { where: { eventid: { gt: after, lte: end } }, after: next };
    const answer = await essential(client, { root: 'CVR_Events', query: EVENTS_QUERY, variables }, how.signal);
    const page: ReturnType<typeof pageIn> = pageIn(answer, 'CVR_Events');
    rows.push(...page.nodes);
    if (page.next !== null && (page.next === next || rows.length > size * 2))
      throw new SourceError('Datafordeler answers CVR_Events with the same page again and again');
    ({ next } = page);
  } while (next !== null);
  const events = distinct(rows.map(eventOf)).filter(({ number }) => number > after && number <= end);
  const missing = firstMissing(events, after, end);
  if (missing !== undefined && !isLost(missing, events, place.gapSince, how.now)) {
    const before = events.filter(({ number }) => number < missing);
    return { ...windowOf(before, missing - 1), missing };
  }
  return end < mark ? windowOf(...withoutCut(events, end)) : windowOf(events, end);
}

/** Events in the order of the feed, each once. */
const distinct = (events: readonly FeedEvent[]): readonly FeedEvent[] =>
  [...new Map(events.map((event) => [event.number, event])).values()].sort((a, b) => a.number - b.number);

function firstMissing(events: readonly FeedEvent[], after: number, end: number): number | undefined {
  let expected = after + 1;
  for (const { number } of events) {
    if (number !== expected) return expected;
    expected++;
  }
  return expected <= end ? expected : undefined;
}

function isLost(missing: number, events: readonly FeedEvent[], since: number | undefined, now: number): boolean {
  if (since !== undefined && now - since > GAP_MS) return true;
  const follower = events.find(({ number }) => number > missing);
  const loadedAt = follower?.loadedAt ?? null;
  return loadedAt !== null && Date.parse(loadedAt) < now - GAP_MS;
}

/** Leaves out the last unit, whose events may go on in the next window, unless the window has no other. */
function withoutCut(events: readonly FeedEvent[], end: number): [readonly FeedEvent[], number] {
  const last = events.at(-1)?.unit;
  const kept = events.slice(0, events.findLastIndex(({ unit }) => unit !== last) + 1);
  return kept.length === 0 ? [events, end] : [kept, kept.at(-1)?.number ?? end];
}

function windowOf(events: readonly FeedEvent[], upTo: number): EventWindow {
  const units = new Map<string, UnitEvents>();
  let loadedAt: string | null = null;
  for (const event of events) {
    loadedAt = laterTime(loadedAt, event.loadedAt);
    const { unit: id } = event;
    if (id === undefined || event.entity === undefined) continue;
    const unit = units.get(id) ?? { id, inserted: new Map(), isWhole: false, loadedAt: null };
    // The last event of a unit gives its place.
    units.delete(id);
    units.set(id, unit);
    unit.loadedAt = laterTime(unit.loadedAt, event.loadedAt);
    noteEvent(unit, event.entity, event);
  }
  return { units: [...units.values()], upTo, loadedAt };
}

function noteEvent(unit: UnitEvents, entity: DafEntity, { isInsert, rowId, sequence }: FeedEvent): void {
  if (entity === 'CVREnhed') unit.isWhole = isInsert;
  const known = unit.inserted.get(entity);
  if (isInsert) {
    const announced = known ?? { rowIds: [], sequence };
    announced.sequence = Math.max(announced.sequence, sequence);
    if (rowId !== undefined) announced.rowIds.push(rowId);
    unit.inserted.set(entity, announced);
  } else if (known !== undefined && rowId !== undefined) {
    const left = known.rowIds.filter((each) => each !== rowId);
    if (left.length === 0) unit.inserted.delete(entity);
    else unit.inserted.set(entity, { ...known, rowIds: left });
  }
}
