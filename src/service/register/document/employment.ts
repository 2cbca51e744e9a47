/** Numbers of employees: the newest month, quarter and year of a company. */
import type { JsonObject } from '../../../protocol/text/json.ts';
import { whole } from './fields.ts';
import { intervalOfCode, intervalOfNumber } from './intervals.ts';
import { entriesOf, isLater, noteDay, noteUnread, touchedAt, type View } from './validity.ts';

/** `number` is the month or quarter; 0 for a year. */
export interface Employment<T> {
  readonly year: number;
  readonly number: number;
  readonly value: T;
  readonly at: string | null;
}

const exact = (entry: JsonObject): number | null => {
  const count = whole(entry['antalAnsatte']);
  return count !== null && count >= 0 ? count : null;
};

const interval = (entry: JsonObject): string | null => {
  const stated = intervalOfCode(entry['intervalKodeAntalAnsatte']);
  if (stated !== null) return stated;
  const count = exact(entry);
  return count === null ? null : intervalOfNumber(count);
};

/** Months before late 2019 have only an interval. */
const statesNumber = ({ antalAnsatte }: JsonObject): boolean => antalAnsatte != null;
const statesInterval = (entry: JsonObject): boolean => statesNumber(entry) || entry['intervalKodeAntalAnsatte'] != null;

interface FigurePeriod {
  readonly year: number;
  readonly number: number;
}

/** How to read the figures of a part. `key` names the month or quarter; `most` is the number of them in a year. */
interface Kind<T> {
  readonly part: string;
  readonly key?: string;
  readonly most: number;
  readonly figure: (entry: JsonObject) => T | null;
  readonly states: (entry: JsonObject) => boolean;
}

const FIRST_YEAR = 1900;

/** Whether the period exists and has begun: the register contains typing errors. */
const isPlausible = ({ year, number }: FigurePeriod, most: number, today: string): boolean => {
  const [now, month] = [Number(today.slice(0, 4)), Number(today.slice(5, 7))];
  if (year < FIRST_YEAR || year > now || (most === 0 ? number !== 0 : number < 1 || number > most)) return false;
  return year < now || number <= Math.ceil((month * most) / 12);
};

const beginOf = ({ year, number }: FigurePeriod, most: number): string => {
  const month = most === 0 ? 1 : ((number - 1) * 12) / most + 1;
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-01`;
};

const periodIn = (
  entry: JsonObject,
  { key, most }: Kind<unknown>,
  { today, horizon }: View,
): FigurePeriod | undefined => {
  const year = whole(entry['aar']);
  const number = key === undefined ? 0 : whole(entry[key]);
  if (year === null || number === null) return undefined;
  const period = { year, number };
  if (isPlausible(period, most, today)) return period;
  // A later period counts from its first day.
  const begins = beginOf(period, most);
  if (isPlausible(period, most, begins)) noteDay(horizon, begins, today);
  return undefined;
};

const distance = (a: FigurePeriod, b: FigurePeriod): number => a.year - b.year || a.number - b.number;

const later = (a: FigurePeriod | undefined, b: FigurePeriod | undefined): FigurePeriod | undefined =>
  a === undefined || (b !== undefined && distance(b, a) > 0) ? b : a;

/** Of two figures of one period, the one that the register touched last counts. */
const isNewer = <T>(a: Employment<T>, b: Employment<T>): boolean => {
  const ahead = distance(a, b);
  if (ahead !== 0) return ahead > 0;
  return a.at === b.at ? String(a.value) > String(b.value) : isLater(a.at, b.at);
};

/** The key of an unreadable figure of a part's latest period. */
export const latestFigure = (part: string): string => `latest ${part} figure`;

/**
 * The figure of the latest period that has one, in any order. Skips unreadable figures and impossible periods; without
 * another figure, the known one stays.
 */
const newestOf = <T extends string | number>(
  lists: readonly unknown[],
  kind: Kind<T>,
  view: View,
): Employment<T> | null => {
  let best: Employment<T> | null = null;
  let unreadable: FigurePeriod | undefined;
  for (const entry of lists.flatMap(entriesOf)) {
    if (!kind.states(entry)) continue;
    const period = periodIn(entry, kind, view);
    const value = period === undefined ? null : kind.figure(entry);
    if (period === undefined || value === null) {
      noteUnread(view.unread, `${kind.part} figure`, entry);
      unreadable = later(period, unreadable);
      continue;
    }
    const found: Employment<T> = { ...period, value, at: touchedAt(entry) };
    if (best === null || isNewer(found, best)) best = found;
  }
  renameUnread(view.unread, kind.part, best, unreadable);
  return best;
};

/** A skipped figure matters more if no other is left, or none as late. */
function renameUnread(
  unread: View['unread'],
  part: string,
  best: FigurePeriod | null,
  unreadable: FigurePeriod | undefined,
): void {
  const passedOver = unread.get(`${part} figure`);
  const isLatest = best === null || (unreadable !== undefined && distance(unreadable, best) > 0);
  if (passedOver === undefined || !isLatest) return;
  unread.delete(`${part} figure`);
  unread.set(best === null ? part : latestFigure(part), passedOver);
}

const MONTH: Kind<number> = { part: 'monthly', key: 'maaned', most: 12, figure: exact, states: statesNumber };
const QUARTER: Kind<string> = { part: 'quarterly', key: 'kvartal', most: 4, figure: interval, states: statesInterval };
const YEAR: Kind<string> = { part: 'yearly', most: 0, figure: interval, states: statesInterval };

/**
 * Exact numbers exist since late 2019, and come two months late. Earlier months have only intervals and yield nothing.
 */
export const newestMonth = (document: JsonObject, view: View): Employment<number> | null =>
  newestOf([document['erstMaanedsbeskaeftigelse'], document['maanedsbeskaeftigelse']], MONTH, view);

export const newestQuarter = (document: JsonObject, view: View): Employment<string> | null =>
  newestOf([document['erstKvartalsbeskaeftigelse'], document['kvartalsbeskaeftigelse']], QUARTER, view);

export const newestYear = (document: JsonObject, view: View): Employment<string> | null =>
  newestOf([document['erstAarsbeskaeftigelse'], document['aarsbeskaeftigelse']], YEAR, view);
