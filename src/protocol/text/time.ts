/** Times of the wire: ISO 8601, in UTC if no time zone is stated. */

/** The first and the last date that programs have, which they write for "no date". */
const NO_DATE = /^\s*(?:0001-01-01|9999-12-31)/;

export const isNoDate = (text: string): boolean => NO_DATE.test(text);

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,12}))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

const zoneMs = (zone: string | undefined): number => {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || 0);
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
};

const NORMAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Every month has these days. */
const BEFORE_THE_29TH = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Recognises most texts in a fraction of the time of a full parse. */
const isNormal = (text: string): boolean => {
  if (BEFORE_THE_29TH.test(text)) return true;
  if (!NORMAL.test(text)) return false;
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text;
};

/**
 * The instant of a text as `2026-11-21T04:22:00.000Z`, so that texts sort as times do. A date alone is midnight; digits
 * beyond the millisecond are cut. Undefined if it is not a real date.
 */
export const normaliseTime = (text: string): string | undefined => {
  if (isNormal(text)) return text;
  const match = ISO.exec(text.trim());
  if (match === null) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '0', zone] = match;
  // JavaScript has no leap seconds: they count as the end of the second before.
  const seconds = second === '60' ? '59.999' : `${second}.${fraction.padEnd(3, '0').slice(0, 3)}`;
  const local = `${year}-${month}-${day}T${hour}:${minute}:${seconds}Z`;
  const ms = Date.parse(local);
  // JavaScript reads the 31st of a short month as a day of the next one: reject it.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== local) return undefined;
  const instant = new Date(ms - zoneMs(zone)).toISOString();
  return instant.length === local.length ? instant : undefined;
};
