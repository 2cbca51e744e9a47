/**
 * Finds what is valid on a day. The register keeps the whole history of every list, each entry with its period. Periods
 * are days, both ends inclusive; a missing end is open. Lists are unordered. Days are compared as text.
 */
import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';

/** A value, and the register's time of its last change, in ISO 8601 with offset. */
export interface DatedValue<T> {
  readonly value: T;
  readonly at: string | null;
}

/** The day to read a document for. Walking its lists fills `horizon`. */
export interface View {
  readonly today: string;
  /** The day whose entries count: today; the last day of a company that ended; the first of a future one. */
  readonly on: string;
  readonly horizon: Horizon;
  readonly unread: Unread;
}

/** Unreadable values by part, as in the document. A key that is not a part of a snapshot has no effect. */
export type Unread = Map<string, string>;

export const noteUnread = (unread: Unread, part: string, stated: unknown): void => {
  const text = JSON.stringify(stated) ?? '';
  const known = unread.get(part);
  // The result must not depend on the order of several values.
  if (known === undefined || text < known) unread.set(part, text);
};

/** The earliest future day on which something in the walked lists begins or is no longer valid. */
export interface Horizon {
  aheadOn: string | null;
}

/**
 * The chosen entry of a list, and when the register last touched it; if none was chosen, when it last touched the list.
 */
export interface Picked {
  readonly entry: JsonObject | undefined;
  readonly at: string | null;
}

/** The day that a text begins with; null for anything else. */
export const dayOf = (value: unknown): string | null => {
  if (typeof value !== 'string' || value.length < 10) return null;
  return value.length === 10 ? value : value.slice(0, 10);
};

const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const numberAt = (text: string, from: number, to: number): number => {
  let number = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
};

/** Whether a text is a real day, YYYY-MM-DD. Uses no regular expressions or dates, because it runs for most entries. */
export const isDay = (day: string): boolean => {
  if (day.length !== 10 || day[4] !== '-' || day[7] !== '-') return false;
  const year = numberAt(day, 0, 4);
  const month = numberAt(day, 5, 7);
  const date = numberAt(day, 8, 10);
  if (Number.isNaN(year) || !(date >= 1 && date <= (MONTH_DAYS[month - 1] ?? 0))) return false;
  return month !== 2 || date < 29 || (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0));
};

export const dayAfter = (day: string, days = 1): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);

export const noteDay = (horizon: Horizon, day: string | null, today: string): void => {
  if (day === null || day <= today || !isDay(day)) return;
  if (horizon.aheadOn === null || day < horizon.aheadOn) horizon.aheadOn = day;
};

/** Both days included; null is open. */
export interface Period {
  readonly from: string | null;
  readonly to: string | null;
}

/** These two return first and last day separately, because most entries need no {@link Period}. */
const firstDay = ({ periode }: JsonObject): string | null =>
  isJsonObject(periode) ? dayOf(periode['gyldigFra']) : null;
const lastDay = ({ periode }: JsonObject): string | null =>
  isJsonObject(periode) ? dayOf(periode['gyldigTil']) : null;

export const periodOf = (entry: JsonObject): Period => ({ from: firstDay(entry), to: lastDay(entry) });

const covers = (from: string | null, to: string | null, day: string): boolean =>
  (from === null || from <= day) && (to === null || to >= day);

export const touchedAt = (entry: JsonObject): string | null => {
  const { sidstOpdateret: at } = entry;
  return typeof at === 'string' && at.length >= 10 ? at : null;
};

/**
 * Whether a register time is later than another; null is earliest. The register writes Danish local time with its
 * offset, in one length: such texts sort as times do, so only others are parsed.
 */
export const isLater = (a: string | null, b: string | null): boolean => {
  if (a === null || b === null) return a !== null;
  if (a.length === b.length) return a > b;
  return (Date.parse(a) || 0) > (Date.parse(b) || 0);
};

export const later = (a: string | null, b: string | null): string | null => (isLater(a, b) ? a : b);

/** The dated value of a chosen entry. Notes an unreadable entry. */
export const datedValue = <T>(
  view: View,
  part: string,
  { entry, at }: Picked,
  of: (entry: JsonObject | undefined) => T | null,
): DatedValue<T | null> => {
  const value = of(entry);
  if (value === null && entry !== undefined) noteUnread(view.unread, part, entry);
  return { value, at };
};

const NOTHING: readonly JsonObject[] = [];

/** The objects of a list, without anything else; empty for a value that is not a list. */
export const entriesOf = (list: unknown): readonly JsonObject[] => {
  if (!Array.isArray(list) || list.length === 0) return NOTHING;
  for (const entry of list) if (!isJsonObject(entry)) return list.filter(isJsonObject);
  return list;
};

/** Stops at the first entry, unlike {@link entriesOf}. */
export const hasEntries = (list: unknown): boolean => Array.isArray(list) && list.some(isJsonObject);

/**
 * Walks a list once: calls `take` with each entry valid on the day, and returns when the register last touched the
 * list.
 */
export const walk = (list: unknown, view: View, take: (entry: JsonObject) => void): string | null => {
  if (!Array.isArray(list)) return null;
  const { today, on, horizon } = view;
  let newest: string | null = null;
  for (const entry of list) {
    if (!isJsonObject(entry)) continue;
    const at = touchedAt(entry);
    if (isLater(at, newest)) newest = at;
    const from = firstDay(entry);
    const to = lastDay(entry);
    if (from !== null && from > today) noteDay(horizon, from, today);
    if (to !== null && to >= today && isDay(to)) noteDay(horizon, dayAfter(to), today);
    if (covers(from, to, on)) take(entry);
  }
  return newest;
};

const isPreferred = (entry: JsonObject, to: JsonObject): boolean => {
  const at = touchedAt(entry);
  const other = touchedAt(to);
  if (at !== other) return isLater(at, other);
  const from = firstDay(entry) ?? '';
  const otherFrom = firstDay(to) ?? '';
  // The entries are equivalent: any rule will do that ignores their order.
  return from === otherFrom ? JSON.stringify(entry) > JSON.stringify(to) : from > otherFrom;
};

const ANY = (): boolean => true;

/** The entry that is valid on the day; of several, the one that the register touched last. */
export const current = (list: unknown, view: View, isUsable: (entry: JsonObject) => boolean = ANY): Picked => {
  let best: JsonObject | undefined;
  const newest = walk(list, view, (entry) => {
    if (isUsable(entry) && (best === undefined || isPreferred(entry, best))) best = entry;
  });
  return { entry: best, at: best === undefined ? newest : touchedAt(best) };
};

/** The entry of a list with the latest period, for names that must not be missing. */
export const newest = (list: unknown): JsonObject | undefined => {
  let best: JsonObject | undefined;
  const endOf = (entry: JsonObject): string => lastDay(entry) ?? '9999';
  for (const entry of entriesOf(list)) {
    if (best === undefined || endOf(entry) > endOf(best)) best = entry;
    else if (endOf(entry) === endOf(best) && isPreferred(entry, best)) best = entry;
  }
  return best;
};
