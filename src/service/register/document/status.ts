/** Combines the status of a company from the three places in which the register has it. */
import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';
import { text, whole } from './fields.ts';
import { current, type DatedValue, entriesOf, type View } from './validity.ts';

/** An announcement of the gazette: bankruptcy (1) or compulsory composition (3), and its progress. */
export interface Credit {
  readonly creditCode: number | null;
  readonly creditText: string | null;
  /**
   * 1 decree, 2 lifted, 3 closed, 4 and 7 other, 5 proof of claims, 6 creditors' meeting, 8 opening, 9 confirmation.
   */
  readonly statusCode: number | null;
  readonly statusText: string | null;
}

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

/** Makes the register's two spellings of a status equal. */
export const plainStatus = (status: string | null): string => status?.replaceAll(' ', '').toUpperCase() ?? '';

/** The statuses that one word of Datafordeler may stand for. Bankruptcy has a word of its own. */
const COARSE: Readonly<Record<string, RegExp>> = {
  AKTIV: /^(?:NORMAL|UNDER(?!KONKURS))/,
  OPHØRT: /^(?:OPLØST|TVANGSOPLØST|SLETTET|UDENRETSVIRKNING)/,
};

/** Whether a status says less than another one, and nothing else. */
export const isCoarser = (status: string | null, than: string | null): boolean =>
  COARSE[plainStatus(status)]?.test(plainStatus(than)) === true;

/** The status continues after the company's end; other lists stop. */
interface StatusContext {
  readonly now: View;
  readonly asLast: View;
  readonly credit: Credit | null;
  readonly registeredAt: string | null;
}

/**
 * The status text. Partnerships and similar forms have only the composed one (`sammensatStatus`), which has no period:
 * if it repeats an entry of the list, today's entry counts, so that a future status appears on its day.
 */
export const statusOf = (
  document: JsonObject,
  { now, asLast, credit, registeredAt }: StatusContext,
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
