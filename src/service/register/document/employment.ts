/** Numbers of employees: the newest month, quarter and year of a company. */
import type { JsonObject } from '../../../protocol/text/json.ts';
import { whole } from './fields.ts';
import { intervalOfCode, intervalOfNumber } from './intervals.ts';
import { entriesOf, isLater, touchedAt } from './validity.ts';

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

interface FigurePeriod {
  readonly year: number;
  readonly number: number;
}

/** The period of an entry; `unit` names its month or quarter. */
const periodIn = (entry: JsonObject, unit: string | undefined): FigurePeriod | undefined => {
  const year = whole(entry['aar']);
  const number = unit === undefined ? 0 : whole(entry[unit]);
  return year === null || number === null ? undefined : { year, number };
};

const distance = (a: FigurePeriod, b: FigurePeriod): number => a.year - b.year || a.number - b.number;

/** Of two figures of one period the one that the register touched last counts. */
const isNewer = <T>(a: Employment<T>, b: Employment<T>): boolean => {
  const ahead = distance(a, b);
  if (ahead !== 0) return ahead > 0;
  return a.at === b.at ? String(a.value) > String(b.value) : isLater(a.at, b.at);
};

/** The figure of the latest period that has one, in whatever order they come. */
const newestOf = <T extends string | number>(
  lists: readonly unknown[],
  unit: string | undefined,
  figure: (entry: JsonObject) => T | null,
): Employment<T> | null => {
  let best: Employment<T> | null = null;
  for (const entry of lists.flatMap(entriesOf)) {
    const period = periodIn(entry, unit);
    if (period === undefined || (best !== null && distance(period, best) < 0)) continue;
    const value = figure(entry);
    if (value === null) continue;
    const found: Employment<T> = { ...period, value, at: touchedAt(entry) };
    if (best === null || isNewer(found, best)) best = found;
  }
  return best;
};

/** Exact numbers exist since late 2019, two months late; before, months have intervals only and give nothing. */
export const newestMonth = (document: JsonObject): Employment<number> | null =>
  newestOf([document['erstMaanedsbeskaeftigelse'], document['maanedsbeskaeftigelse']], 'maaned', exact);

export const newestQuarter = (document: JsonObject): Employment<string> | null =>
  newestOf([document['erstKvartalsbeskaeftigelse'], document['kvartalsbeskaeftigelse']], 'kvartal', interval);

export const newestYear = (document: JsonObject): Employment<string> | null =>
  newestOf([document['erstAarsbeskaeftigelse'], document['aarsbeskaeftigelse']], undefined, interval);
