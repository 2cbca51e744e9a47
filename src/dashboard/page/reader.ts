/** A page's language and number formats, chosen by its reader. */
import { largestUnit } from '../../protocol/text/largest-unit.ts';
import { DANISH_ZONE } from '../../protocol/text/zone-clock.ts';
import { TEXTS, type TextKey } from '../texts/texts.ts';

export const LANGUAGES = ['en', 'da'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The values for a text's placeholders; `count` chooses between singular and plural. */
export type TextValues = Readonly<Record<string, string | number>>;

export interface Reader {
  readonly language: Language;
  /** A BCP 47 tag, such as `da-DK`. */
  readonly locale: string;
  readonly timeZone: string;
  text(key: TextKey, values?: TextValues): string;
  number(value: number): string;
  /** A fraction as a percentage, rounded down. */
  share(value: number): string;
  /** A size in the largest unit that fits, in steps of 1,024. */
  bytes(value: number): string;
  /** A duration, to the millisecond or the tenth of a second. */
  latency(ms: number): string;
  day(ms: number): string;
  /** Date and time, in the time zone. */
  time(ms: number): string;
  /** Date and time to the second. */
  second(ms: number): string;
  /** How long ago, or how long until, in the largest unit that fits. */
  distance(ms: number, now: number): string;
  /** A duration, in the largest unit that fits. */
  duration(ms: number): string;
}

const DEFAULT_LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', da: 'da-DK' };

/** Readers by locale and zone, the most recent last: making a format takes longer than writing a page of times. */
const READERS = new Map<string, Reader>();
/** A browser may name any region. */
const MOST_READERS = 20;

/** The reader for an Accept-Language header; English if it names no language of the dashboard. */
export function readerOf(acceptLanguage: string | undefined, timeZone = DANISH_ZONE): Reader {
  const { language, locale } = chooseLanguage(acceptLanguage ?? '');
  const key = `${locale} ${timeZone}`;
  const reader = READERS.get(key) ?? makeReader(language, locale, timeZone);
  READERS.delete(key);
  READERS.set(key, reader);
  const oldest = READERS.size > MOST_READERS ? READERS.keys().next().value : undefined;
  if (oldest !== undefined) READERS.delete(oldest);
  return reader;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function makeReader(language: Language, locale: string, timeZone: string): Reader {
  const numbers = new Intl.NumberFormat(locale);
  const plural = new Intl.PluralRules(language);
  const shares = once(() => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }));
  const days = once(() => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }));
  const inZone = { dateStyle: 'medium', timeZone } as const;
  const times = once(() => new Intl.DateTimeFormat(locale, { ...inZone, timeStyle: 'short' }));
  const seconds = once(() => new Intl.DateTimeFormat(locale, { ...inZone, timeStyle: 'medium' }));
  const distances = once(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));
  const units = new Map<string, Intl.NumberFormat>();
  const fill = (name: string, value: string | number | undefined): string =>
    typeof value === 'number' ? numbers.format(value) : (value ?? `{${name}}`);
  const inUnits = (ms: number): string => {
    const { count, unit } = largestUnit(ms);
    const known = units.get(unit) ?? new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' });
    units.set(unit, known);
    return known.format(count);
  };
  return {
    language,
    locale,
    timeZone,
    text(key, values = {}) {
      const text = TEXTS[language][key];
      const isOne = plural.select(Number(values['count'] ?? 0)) === 'one';
      const form = typeof text === 'string' ? text : isOne ? text.one : text.other;
      return form.replaceAll(/\{(\w+)\}/g, (_, name: string) => fill(name, values[name]));
    },
    number: (value) => numbers.format(value),
    share: (value) => shares().format(Math.floor(value * 1_000) / 1_000),
    bytes(value) {
      const power = Math.min(SIZES.length - 1, Math.floor(Math.log2(Math.max(1, Math.abs(value))) / 10));
      const rounded = Math.round((value / 1_024 ** power) * 10) / 10;
      return `${numbers.format(rounded)} ${SIZES[power]}`;
    },
    latency: (ms) =>
      ms < 1_000
        ? `${numbers.format(Math.round(ms))} ms`
        : ms < 60_000
          ? `${numbers.format(Math.round(ms / 100) / 10)} s`
          : inUnits(ms),
    day: (ms) => days().format(ms),
    time: (ms) => times().format(ms),
    second: (ms) => seconds().format(ms),
    distance(ms, now) {
      const { count, unit } = largestUnit(ms - now);
      return distances().format(count, unit);
    },
    duration: inUnits,
  };
}

const SIZES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

interface Wanted {
  readonly tag: string;
  readonly weight: number;
}

/** The most wanted of the dashboard's languages. */
function chooseLanguage(header: string): { readonly language: Language; readonly locale: string } {
  const wanted = header
    .slice(0, 200)
    .split(',')
    .map((part): Wanted => {
      const [tag = '', ...parameters] = part.split(';').map((each) => each.trim());
      const weight = parameters.find((each) => each.startsWith('q='))?.slice(2);
      return { tag, weight: weight === undefined ? 1 : Number(weight) || 0 };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight);
  for (const { tag } of wanted) {
    const [, base = '', region] = /^(en|da)(?:-([A-Za-z]{2}))?$/i.exec(tag) ?? [];
    const language = base.toLowerCase();
    if (language === 'en' || language === 'da')
      return {
        language,
        locale: region === undefined ? DEFAULT_LOCALES[language] : `${language}-${region.toUpperCase()}`,
      };
  }
  return { language: 'en', locale: DEFAULT_LOCALES.en };
}
