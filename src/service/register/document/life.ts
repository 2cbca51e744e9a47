/** When a company or unit began and ended. */
import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';
import { midnight } from './fields.ts';
import { type DatedValue, dayOf, entriesOf, type Horizon, later, noteDay, periodOf, touchedAt } from './validity.ts';

/** Days as the wire writes them. */
export interface Life {
  /** Where the latest life that has begun did; null where none has, or none knows when. */
  readonly started: string | null;
  /** Where that life ended; null while it goes on. The last day is the company's last. */
  readonly ended: string | null;
  /** Where the first life begins, be it later than today; the founding date where there is no life. */
  readonly founded: string | null;
  /** The first day on which the register knew of it, as far as the document tells. */
  readonly registered: string | null;
}

interface Span {
  readonly from: string | null;
  readonly to: string | null;
}

const isNewer = (a: Span, b: Span): boolean =>
  a.from === b.from ? (a.to ?? '9999') > (b.to ?? '9999') : (a.from ?? '') > (b.from ?? '');

/** Reads the lives, and the day whose entries count: today, the last day of what has ended, the first of what is coming. */
export const lifeOf = (
  document: JsonObject,
  today: string,
  horizon: Horizon,
): { readonly life: DatedValue<Life>; readonly on: string } => {
  let begun: Span | undefined;
  let first: string | null = null;
  let registered: string | null = null;
  let at: string | null = null;
  const known = (entry: JsonObject): void => {
    const day = dayOf(touchedAt(entry));
    if (day !== null && (registered === null || day < registered)) registered = day;
  };
  for (const entry of entriesOf(document['livsforloeb'])) {
    const { from, to } = periodOf(entry);
    known(entry);
    at = later(at, touchedAt(entry));
    noteDay(horizon, from, today);
    noteDay(horizon, to, today);
    if (from !== null && (first === null || from < first)) first = from;
    if ((from ?? '') <= today && (begun === undefined || isNewer({ from, to }, begun))) begun = { from, to };
  }
  for (const entry of entriesOf(document['navne'])) known(entry);
  const metadata = document['virksomhedMetadata'];
  const founded =
    dayOf(document['stiftelsesDato']) ?? dayOf(isJsonObject(metadata) ? metadata['stiftelsesDato'] : null);
  const end = begun?.to ?? null;
  const hasEnded = end !== null && end <= today;
  const isComing = begun === undefined && first !== null && first > today;
  return {
    life: {
      value: {
        started: midnight(begun?.from ?? null),
        ended: hasEnded ? midnight(end) : null,
        founded: midnight(first ?? founded),
        registered,
      },
      at,
    },
    on: isComing ? (first ?? today) : hasEnded ? end : today,
  };
};
