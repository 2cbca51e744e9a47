/** The status of a company, out of the three places in which the register keeps it. */
import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';
import { text, whole } from './fields.ts';
import { current, type DatedValue, entriesOf, type View } from './validity.ts';

/** What the gazette announced: bankruptcy (1) or compulsory composition (3), and how far it has come. */
export interface Credit {
  readonly creditCode: number | null;
  readonly creditText: string | null;
  /** 1 decree, 2 lifted, 3 closed, 4 and 7 other, 5 proof of claims, 6 creditors' meeting, 8 opening, 9 confirmation. */
  readonly statusCode: number | null;
  readonly statusText: string | null;
}

/** The credit status that is valid on the day. */
export const creditOf = (document: JsonObject, view: View): DatedValue<Credit | null> => {
  const { entry, at } = current(document['status'], view);
  if (entry === undefined) return { value: null, at };
  return {
    value: {
      creditCode: whole(entry['kreditoplysningkode']),
      creditText: text(entry['kreditoplysningtekst']),
      statusCode: whole(entry['statuskode']),
      statusText: text(entry['statustekst']),
    },
    at,
  };
};

/** A status however it is spelt: the register spells it in two ways. */
export const plainStatus = (status: string | null): string => status?.replaceAll(' ', '').toUpperCase() ?? '';

/** Which view to use: the status goes on after the company's end, other lists stop with it. */
interface Sight {
  readonly now: View;
  readonly asLast: View;
  readonly credit: Credit | null;
  readonly registeredAt: string | null;
}

/**
 * The status text. The composed one (`sammensatStatus`) is all that partnerships and the like have. It has no period:
 * where it repeats an entry of the list, the entry that is valid today counts, so that a coming status comes on its day.
 */
export const statusOf = (
  document: JsonObject,
  { now, asLast, credit, registeredAt }: Sight,
): DatedValue<string | null> => {
  const list = document['virksomhedsstatus'];
  const today = current(list, now);
  const { entry, at } = today.entry === undefined ? current(list, asLast) : today;
  const listed = text(entry?.['status']);
  const metadata = document['virksomhedMetadata'];
  const composed = text(isJsonObject(metadata) ? metadata['sammensatStatus'] : undefined);
  const repeats = entriesOf(list).some((each) => plainStatus(text(each['status'])) === plainStatus(composed));
  if (listed !== null && (composed === null || repeats)) return { value: listed, at };
  if (composed !== null) return { value: composed, at: registeredAt };
  return { value: credit?.creditText ?? null, at: credit === null ? at : registeredAt };
};
