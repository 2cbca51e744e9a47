/**
 * Times of the wire: ISO 8601, in UTC where no time zone is stated.
 */

/** Dates that programs write for "no date": the first and the last one of theirs. */
const NO_DATE = /^\s*(?:0001-01-01|9999-12-31)/;

/** Whether a text states no date although it is spelled as one. */
export const isNoDate = (text: string): boolean => NO_DATE.test(text);

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,12}))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

const zoneMs = (zone: string | undefined): number => {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || 0);
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
};

const NORMAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Of these no month has too few days. */
const BEFORE_THE_29TH = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** What most texts are already: told in a fraction of the time the rest takes. */
const isNormal = (text: string): boolean => {
  if (BEFORE_THE_29TH.test(text)) return true;
  if (!NORMAL.test(text)) return false;
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text;
};

/**
 * The instant a text states, as `2026-11-21T04:22:00.000Z`, so that texts sort as times do.
 * A date alone is midnight; digits beyond the millisecond are cut. Undefined where it is no real date.
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
  // JavaScript rolls the 31st of a short month over into the next one: such a text is no date.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== local) return undefined;
  const instant = new Date(ms - zoneMs(zone)).toISOString();
  return instant.length === local.length ? instant : undefined;
};
