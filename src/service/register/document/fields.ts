/** Reads single fields of register documents. Anything unexpected is null. */
import type { Address, CompanyForm, Industry } from '../../../protocol/formats.ts';
import { LONGEST_TEXT } from '../../../protocol/shape.ts';
import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';
import { storable } from '../../../store/each.ts';
import { dayOf, isDay, periodOf, touchedAt, type View } from './validity.ts';

/** Matches every text that NFC may change. Danish text does not contain these characters. */
const MAYBE_APART = /[\u0300-\uffff]/;

/**
 * A trimmed text in NFC, as every engine can store it, or a number as text; null if empty. Throws for one that is too
 * long, which quarantines the document: null would report a removal.
 */
export const text = (value: unknown): string | null => {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  if (typeof value !== 'string') return null;
  if (value.length > LONGEST_TEXT)
    throw new Error(`a text in it has ${value.length} characters, may have ${LONGEST_TEXT}`);
  const trimmed = storable(value.trim());
  if (trimmed === '') return null;
  return MAYBE_APART.test(trimmed) ? trimmed.normalize('NFC') : trimmed;
};

export const whole = (value: unknown): number | null => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number + 0 : null;
};

export const decimal = (value: unknown): number | null => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value.replace(',', '.')) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number + 0 : null;
};

/** A boolean or its text: values of attributes are always text. */
export const flag = (value: unknown): boolean | null => {
  if (typeof value === 'boolean') return value;
  return value === 'true' ? true : value === 'false' ? false : null;
};

/** A number of this many digits, with the leading zeros that JSON numbers lose. */
export const digits = (value: unknown, length: number): string | null => {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  const padded = String(value).trim().padStart(length, '0');
  return /^\d+$/.test(padded) && padded.length === length && !/^0+$/.test(padded) ? padded : null;
};

/** A day in the wire's format: midnight without time zone. Null for an impossible day. */
export const midnight = (day: string | null): string | null => (day !== null && isDay(day) ? `${day}T00:00:00` : null);

const CLOCK = /^T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d/;

/** A register time in the wire's format: local, without time zone. */
const localTime = (time: string | null): string | null => {
  const start = midnight(dayOf(time));
  return start !== null && time !== null && CLOCK.test(time.slice(10)) ? time.slice(0, 19) : start;
};

const wirePeriod = (entry: JsonObject, { today }: View) => {
  const { from, to } = periodOf(entry);
  const isNow = (from === null || from <= today) && (to === null || to >= today);
  return { from: midnight(from), to: midnight(to), original: null, isNow };
};

export const industryOf = (entry: JsonObject | undefined, view: View): Industry | null => {
  const code = text(entry?.['branchekode']);
  if (entry === undefined || code === null) return null;
  return {
    period: wirePeriod(entry, view),
    industryCode: code,
    industryText: text(entry['branchetekst']),
    lastUpdated: localTime(touchedAt(entry)),
  };
};

export const formOf = (entry: JsonObject | undefined, view: View): CompanyForm | null => {
  const code = whole(entry?.['virksomhedsformkode']);
  if (entry === undefined || code === null) return null;
  return {
    companyFormCode: code,
    shortDescription: text(entry['kortBeskrivelse']),
    longDescription: text(entry['langBeskrivelse']),
    responsibleDataProvider: text(entry['ansvarligDataleverandoer']),
    period: wirePeriod(entry, view),
    lastUpdated: localTime(touchedAt(entry)),
  };
};

const municipalityOf = (value: unknown, view: View): Address['municipality'] => {
  if (!isJsonObject(value)) return null;
  return {
    period: wirePeriod(value, view),
    name: text(value['kommuneNavn']),
    code: whole(value['kommuneKode']),
    original: null,
    lastUpdated: localTime(touchedAt(value)),
    relatedEntityId: null,
    relatedUpdates: [],
  };
};

/** The keys that give a place; an address needs at least one. */
const PLACES = [
  'landekode',
  'fritekst',
  'vejkode',
  'postnummer',
  'postboks',
  'vejnavn',
  'bynavn',
  'postdistrikt',
  'conavn',
];

/** Abroad there is no municipality, and `freeText` holds the address. */
export const addressOf = (entry: JsonObject | undefined, view: View): Address | null => {
  if (entry === undefined || PLACES.every((key) => (text(entry[key]) ?? whole(entry[key])) === null)) return null;
  return {
    countryCode: text(entry['landekode']),
    freeText: text(entry['fritekst']),
    roadCode: whole(entry['vejkode']),
    municipality: municipalityOf(entry['kommune'], view),
    houseNumberFrom: whole(entry['husnummerFra']),
    houseNumberTo: whole(entry['husnummerTil']),
    houseLetterFrom: text(entry['bogstavFra']),
    houseLetterTo: text(entry['bogstavTil']),
    floor: text(entry['etage']),
    sideDoor: text(entry['sidedoer']),
    coName: text(entry['conavn']),
    postalBox: text(entry['postboks']),
    streetName: text(entry['vejnavn']),
    cityName: text(entry['bynavn']),
    postalCode: whole(entry['postnummer']) ?? text(entry['postnummer']),
    postalDistrict: text(entry['postdistrikt']),
    period: wirePeriod(entry, view),
    original: null,
    lastUpdated: localTime(touchedAt(entry)),
    relatedEntityId: null,
    relatedUpdates: [],
  };
};
