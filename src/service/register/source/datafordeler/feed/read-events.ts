/**
 * Reads the feed of changes. A change of a unit deletes and inserts all of its rows, so an event only says that a unit
 * was registered again. A deleted row has the number of the import that brought it: only the event's own number orders
 * the feed.
 */

import { isJsonObject, type JsonObject } from '../../../../../protocol/text/json.ts';
import { normaliseTime } from '../../../../../protocol/text/time.ts';
import { whole } from '../../../document/fields.ts';
import { SourceError } from '../../source.ts';
import { type DafEntity, type DafRow, entityNamed } from '../rows.ts';
import { type DafClient, RootRefused } from './client.ts';
import type { FeedGap } from './cursor.ts';
import { EVENTS_QUERY, STATUS_QUERY } from './queries.ts';
import { pageIn } from './read-rows.ts';

/** The rows of one entity of a unit that the feed announces. */
export interface Announced {
  readonly rowIds: string[];
  /** The number of their import. Rows of an older import are former ones. */
  sequence: number;
}

/** The events of one unit in a window. */
export interface UnitEvents {
  readonly id: string;
  readonly inserted: Map<DafEntity, Announced>;
  /**
   * Whether the window has the whole registration: the unit itself was inserted, and none of its events is elsewhere.
   */
  isWhole: boolean;
  /** When Datafordeler loaded the newest, ISO 8601 UTC; null if unknown. */
  loadedAt: string | null;
}

export interface EventWindow {
  /** Ordered by their last events. */
  readonly units: readonly UnitEvents[];
  /** Every event up to this number is in the window or lost. */
  readonly upTo: number;
  /** Whether events of the next unit may be in this window, or lost. */
  readonly isCut: boolean;
  readonly loadedAt: string | null;
  /** The number of the first missing event, and whether later events exist. */
  readonly missing?: { readonly number: number; readonly isFollowed: boolean };
}

/** The events to read: at most `size` after a number, up to the water mark. */
interface Place {
  readonly after: number;
  readonly mark: number;
  readonly size: number;
  readonly isCut: boolean;
  readonly gap?: FeedGap;
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

/** A missing event counts as lost after this time, if later events exist; or if one of this age follows. */
const GAP_MS = 10 * 60_000;

/** The number of the last event that is completely there. */
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

/** Without these root fields the feed is unreadable: a refusal means that the user has no access at all. */
export async function essential(
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
  // The feed has no known updates; one would announce a row as an insert does.
  isInsert: row['eventaction'] !== 'd',
  rowId: typeof row['object_datafordelerRowId'] === 'string' ? row['object_datafordelerRowId'] : undefined,
  sequence: whole(row['datafordelerRegisterImportSequenceNumber']) ?? 0,
  loadedAt: timeIn(row['datafordelerOpdateringstid']),
});

export const timeIn = (value: unknown): string | null =>
  (typeof value === 'string' ? normaliseTime(value) : undefined) ?? null;

export const laterTime = (a: string | null, b: string | null): string | null =>
  a === null || (b !== null && b > a) ? b : a;

interface How {
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Reads the events of a window. Leaves a unit whose events go on for the next window. */
export async function readEvents(client: DafClient, place: Place, how: How): Promise<EventWindow> {
  const { after, mark, size } = place;
  const end = Math.min(after + size, mark);
  const rows: DafRow[] = [];
  let next: string | null = null;
  do {
    const page: ReturnType<typeof pageIn> = await askEvents(client, { gt: after, lte: end }, next, how.signal);
    rows.push(...page.nodes);
    if (page.next !== null && (page.next === next || rows.length > size * 2))
      throw new SourceError('Datafordeler answers CVR_Events with the same page again and again');
    ({ next } = page);
  } while (next !== null);
  const events = distinct(rows.map(eventOf)).filter(({ number }) => number > after && number <= end);
  const gaps = gapsIn(events, after, end);
  if (end < mark && gaps.at(-1)?.to === end) {
    const later = await askEvents(client, { gt: end, lte: mark }, null, how.signal);
    events.push(...later.nodes.map(eventOf).filter(({ number }) => number > end));
  }
  return windowIn(events, gaps, { ...place, mark, end, now: how.now });
}

async function askEvents(client: DafClient, eventid: JsonObject, after: string | null, signal: AbortSignal) {
  const variables = { where: { eventid }, after };
  return pageIn(await essential(client, { root: 'CVR_Events', query: EVENTS_QUERY, variables }, signal), 'CVR_Events');
}

const distinct = (events: readonly FeedEvent[]): FeedEvent[] =>
  [...new Map(events.map((event) => [event.number, event])).values()].sort((a, b) => a.number - b.number);

/** Missing numbers, from the first to the last. */
interface Gap {
  readonly from: number;
  readonly to: number;
}

function gapsIn(events: readonly FeedEvent[], after: number, end: number): readonly Gap[] {
  const numbers = [after, ...events.map(({ number }) => number), end + 1];
  return numbers.flatMap((number, at) => {
    const from = (numbers[at - 1] ?? number) + 1;
    return from < number ? [{ from, to: number - 1 }] : [];
  });
}

/**
 * The window of these events, some of which may come after its end. It ends before the first event that may still come.
 */
function windowIn(
  events: readonly FeedEvent[],
  gaps: readonly Gap[],
  place: Place & { readonly end: number; readonly now: number },
): EventWindow {
  const { after, mark, end } = place;
  const open = gaps.find((gap) => !isLost(gap, events, place));
  const upTo = open === undefined ? end : open.from - 1;
  const there = events.filter(({ number }) => number <= upTo);
  const lost = gaps.filter(({ to }) => to <= upTo);
  const tornBy = (each: readonly FeedEvent[]): readonly (FeedEvent | undefined)[] => [
    ...lost.flatMap(({ from, to }) => events.filter(({ number }) => number === from - 1 || number === to + 1)),
    ...(place.isCut ? each.slice(0, 1) : []),
  ];
  if (open === undefined && end === mark) return { ...windowOf(there, tornBy(there)), upTo, isCut: false };
  const kept = withoutLast(there);
  const last = kept.at(-1);
  const missing = open && { number: open.from, isFollowed: followersOf(open, events).length > 0 };
  const part = { ...windowOf(kept, tornBy(kept)), ...(missing !== undefined && { missing }) };
  if (last !== undefined) return { ...part, upTo: last.number, isCut: false };
  // The only unit may go on in the gap: the window stays in place.
  if (open !== undefined) return { ...part, upTo: after, isCut: place.isCut };
  return { ...windowOf(there, [...tornBy(there), there.at(-1)]), upTo, isCut: true };
}

const followersOf = ({ to }: Gap, events: readonly FeedEvent[]): readonly FeedEvent[] =>
  events.filter(({ number }) => number > to);

/**
 * Whether a missing event is lost: a later event proves that the number was assigned, and the age that it will not
 * come.
 */
function isLost(each: Gap, events: readonly FeedEvent[], { gap, now }: { gap?: FeedGap; now: number }): boolean {
  const followers = followersOf(each, events);
  const isOld = followers.some(({ loadedAt }) => Date.parse(loadedAt ?? '') < now - GAP_MS);
  const hasWaited = gap !== undefined && each.from <= gap.number && now - gap.since > GAP_MS;
  return isOld || (hasWaited && followers.length > 0);
}

/** Leaves out the last unit, whose events may go on. */
function withoutLast(events: readonly FeedEvent[]): readonly FeedEvent[] {
  const last = events.at(-1)?.unit;
  return events.slice(0, events.findLastIndex(({ unit }) => unit !== last) + 1);
}

/** The events of each unit. Units of `torn` events may have further events elsewhere. */
function windowOf(
  events: readonly FeedEvent[],
  torn: readonly (FeedEvent | undefined)[],
): Pick<EventWindow, 'units' | 'loadedAt'> {
  const units = new Map<string, UnitEvents>();
  let loadedAt: string | null = null;
  for (const event of events) {
    loadedAt = laterTime(loadedAt, event.loadedAt);
    const { unit: id } = event;
    if (id === undefined || event.entity === undefined) continue;
    const unit = units.get(id) ?? { id, inserted: new Map(), isWhole: false, loadedAt: null };
    // A unit's last event determines its position.
    units.delete(id);
    units.set(id, unit);
    unit.loadedAt = laterTime(unit.loadedAt, event.loadedAt);
    noteEvent(unit, event.entity, event);
  }
  for (const each of torn) {
    const unit = units.get(each?.unit ?? '');
    if (unit !== undefined) unit.isWhole = false;
  }
  return { units: [...units.values()], loadedAt };
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
