/** Numbers of employees: the newest month, quarter and year of a company. */
import type { JsonObject } from '../../../protocol/text/json.ts';
import { whole } from './fields.ts';
import { intervalOfCode, intervalOfNumber } from './intervals.ts';
import { entriesOf, isLater, noteUnread, touchedAt, type View } from './validity.ts';

/** The figure of one period; `number` is the month or quarter, 0 for a year. */
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

/** Whether an entry states a figure: months before late 2019 have an interval alone. */
const statesNumber = ({ antalAnsatte }: JsonObject): boolean => antalAnsatte != null;
const statesInterval = (entry: JsonObject): boolean => statesNumber(entry) || entry['intervalKodeAntalAnsatte'] != null;

interface FigurePeriod {
  readonly year: number;
  readonly number: number;
}

/** How the figures of a part are read; `key` names the month or quarter, `most` is how many a year has. */
interface Kind<T> {
  readonly part: string;
  readonly key?: string;
  readonly most: number;
  readonly figure: (entry: JsonObject) => T | null;
  readonly states: (entry: JsonObject) => boolean;
}

const FIRST_YEAR = 1900;

/** Whether a year has such a month or quarter, and it has begun: the register holds mistyped ones. */
export const isPlausible = ({ year, number }: FigurePeriod, most: number, today: string): boolean => {
  const [now, month] = [Number(today.slice(0, 4)), Number(today.slice(5, 7))];
  if (year < FIRST_YEAR || year > now || (most === 0 ? number !== 0 : number < 1 || number > most)) return false;
  return year < now || number <= Math.ceil((month * most) / 12);
};

/** The period of an entry. */
const periodIn = (entry: JsonObject, { key, most }: Kind<unknown>, today: string): FigurePeriod | undefined => {
  const year = whole(entry['aar']);
  const number = key === undefined ? 0 : whole(entry[key]);
  if (year === null || number === null) return undefined;
  return isPlausible({ year, number }, most, today) ? { year, number } : undefined;
};

const distance = (a: FigurePeriod, b: FigurePeriod): number => a.year - b.year || a.number - b.number;

/** Of two figures of one period the one that the register touched last counts. */
const isNewer = <T>(a: Employment<T>, b: Employment<T>): boolean => {
  const ahead = distance(a, b);
  if (ahead !== 0) return ahead > 0;
  return a.at === b.at ? String(a.value) > String(b.value) : isLater(a.at, b.at);
};

/**
 * The figure of the latest period that has one, in whatever order they come. One that cannot be read, or of a period that
 * cannot be, is passed over; without another, what was known stays.
 */
const newestOf = <T extends string | number>(
  lists: readonly unknown[],
  kind: Kind<T>,
  { today, unread }: View,
): Employment<T> | null => {
  let best: Employment<T> | null = null;
  for (const entry of lists.flatMap(entriesOf)) {
    if (!kind.states(entry)) continue;
    const period = periodIn(entry, kind, today);
    const value = period === undefined ? null : kind.figure(entry);
    if (period === undefined || value === null) {
      noteUnread(unread, `${kind.part} figure`, entry);
      continue;
    }
    const found: Employment<T> = { ...period, value, at: touchedAt(entry) };
    if (best === null || isNewer(found, best)) best = found;
  }
  const passedOver = unread.get(`${kind.part} figure`);
  if (best === null && passedOver !== undefined) {
    unread.delete(`${kind.part} figure`);
    unread.set(kind.part, passedOver);
  }
  return best;
};

const MONTH: Kind<number> = { part: 'monthly', key: 'maaned', most: 12, figure: exact, states: statesNumber };
const QUARTER: Kind<string> = { part: 'quarterly', key: 'kvartal', most: 4, figure: interval, states: statesInterval };
const YEAR: Kind<string> = { part: 'yearly', most: 0, figure: interval, states: statesInterval };

/** Exact numbers exist since late 2019, two months late; before, months have intervals only and give nothing. */
export const newestMonth = (document: JsonObject, view: View): Employment<number> | null =>
  newestOf([document['erstMaanedsbeskaeftigelse'], document['maanedsbeskaeftigelse']], MONTH, view);

export const newestQuarter = (document: JsonObject, view: View): Employment<string> | null =>
  newestOf([document['erstKvartalsbeskaeftigelse'], document['kvartalsbeskaeftigelse']], QUARTER, view);

export const newestYear = (document: JsonObject, view: View): Employment<string> | null =>
  newestOf([document['erstAarsbeskaeftigelse'], document['aarsbeskaeftigelse']], YEAR, view);
