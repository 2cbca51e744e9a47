import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';
import { midnight } from './fields.ts';
import {
  type DatedValue,
  dayOf,
  entriesOf,
  isDay,
  later,
  noteDay,
  noteUnread,
  type Period,
  periodOf,
  touchedAt,
  type View,
} from './validity.ts';

export interface Life {
  /** The first day of the latest life that has begun; null also if the register does not know it. */
  readonly started: string | null;
  /** The last day of that life, and so of the company; null while it continues. */
  readonly ended: string | null;
  /** The first day of the first life, even a future one; without a life, the founding date. */
  readonly founded: string | null;
  /** The first day on which the register had it, according to the document. */
  readonly registered: string | null;
}

const isNewer = (a: Period, b: Period): boolean =>
  a.from === b.from ? (a.to ?? '9999') > (b.to ?? '9999') : (a.from ?? '') > (b.from ?? '');

const earlier = (a: string | null, b: string | null): string | null => (a === null || (b !== null && b < a) ? b : a);

const latestBegun = (lives: readonly Period[], today: string): Period | undefined => {
  let latest: Period | undefined;
  for (const life of lives)
    if ((life.from ?? '') <= today && (latest === undefined || isNewer(life, latest))) latest = life;
  return latest;
};

const registeredIn = ({ livsforloeb, navne }: JsonObject): string | null => {
  let first: string | null = null;
  for (const list of [livsforloeb, navne])
    for (const entry of entriesOf(list)) first = earlier(first, dayOf(touchedAt(entry)));
  return first;
};

const foundedIn = ({ stiftelsesDato, virksomhedMetadata }: JsonObject): string | null =>
  dayOf(stiftelsesDato) ?? dayOf(isJsonObject(virksomhedMetadata) ? virksomhedMetadata['stiftelsesDato'] : null);

/**
 * Reads the lives, and the day for which to read other lists: today, the last day of a company that ended, or the first
 * of a future one.
 */
export const lifeOf = (
  document: JsonObject,
  today: string,
  { horizon, unread }: Pick<View, 'horizon' | 'unread'>,
): { readonly life: DatedValue<Life>; readonly on: string } => {
  const entries = entriesOf(document['livsforloeb']);
  const lives = entries.map(periodOf);
  let first: string | null = null;
  let at: string | null = null;
  for (const { from, to } of lives) {
    noteDay(horizon, from, today);
    noteDay(horizon, to, today);
    first = earlier(first, from);
  }
  for (const entry of entries) at = later(at, touchedAt(entry));
  const begun = latestBegun(lives, today);
  const end = begun?.to ?? null;
  for (const day of [begun?.from ?? null, end]) if (day !== null && !isDay(day)) noteUnread(unread, 'life', begun);
  const ended = end !== null && end <= today ? end : null;
  const coming = begun === undefined && first !== null && first > today ? first : null;
  const value: Life = {
    started: midnight(begun?.from ?? null),
    ended: midnight(ended),
    founded: midnight(first ?? foundedIn(document)),
    registered: registeredIn(document),
  };
  return { life: { value, at }, on: coming ?? ended ?? today };
};
