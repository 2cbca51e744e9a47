/** Parses numbers and dates in the formats of inline XBRL (transformation registries 1 to 5, by local name). */
import { trimEndOf } from '../../../protocol/text/trim.ts';

type Style = 'plain' | 'dot' | 'comma' | 'zero' | 'units';

/** Names without hyphens, in which the registries differ. */
const STYLES: Readonly<Record<string, Style>> = {
  numdotdecimal: 'dot',
  numdotdecimalapos: 'dot',
  numcommadot: 'dot',
  numspacedot: 'dot',
  numdotdecimalin: 'dot',
  numcommadecimal: 'comma',
  numcommadecimalapos: 'comma',
  numdotcomma: 'comma',
  numspacecomma: 'comma',
  numcomma: 'comma',
  numunitdecimal: 'units',
  numunitdecimalapos: 'units',
  fixedzero: 'zero',
  zerodash: 'zero',
  numdash: 'zero',
};

const PLAIN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;
const MAX_SCALE = 30;
const MAX_LENGTH = 60;

export interface ShownNumber {
  /** The `format` attribute, with its prefix; undefined for a plain decimal. */
  readonly format: string | undefined;
  readonly scale: string | undefined;
  readonly sign: string | undefined;
}

/** The exact number as a plain decimal, without floating point; undefined if unreadable. */
export function inlineNumber(text: string, { format, scale, sign }: ShownNumber): string | undefined {
  const style = format === undefined ? 'plain' : STYLES[localName(format)];
  const power = scale === undefined ? 0 : Number(scale.trim() || Number.NaN);
  if (text.length > MAX_LENGTH && style !== 'zero') return undefined;
  if (style === undefined || !Number.isInteger(power) || Math.abs(power) > MAX_SCALE) return undefined;
  const stated = style === 'zero' ? '0' : decimal(text.trim(), style);
  if (stated === undefined || !PLAIN.test(stated)) return undefined;
  const isNegative = stated.startsWith('-') !== (sign?.trim() === '-');
  const shifted = shift(stated.replace(/^[+-]/, ''), power);
  return isNegative && shifted !== '0' ? `-${shifted}` : shifted;
}

const SPACES = /[\s\u00A0\u2009\u202F'’`´]/g;

function decimal(text: string, style: Exclude<Style, 'zero'>): string | undefined {
  if (style === 'plain') return text;
  if (style === 'units') return unitsAndHundredths(text);
  const plain = text.replace(SPACES, '');
  const number = style === 'dot' ? plain.replaceAll(',', '') : plain.replaceAll('.', '').replace(',', '.');
  // The sign is an attribute: a sign in the text means a misread page.
  return /^\d/.test(number) || number.startsWith('.') ? number : undefined;
}

/** As `12 kr. 50 øre`. */
function unitsAndHundredths(text: string): string | undefined {
  const [, units, hundredths] = /^(\d[\d\s.,'’\u00A0]*)[^\d\s.,'’\u00A0][^\d]*(\d{1,2})[^\d]*$/u.exec(text) ?? [];
  if (units === undefined || hundredths === undefined) return undefined;
  return `${units.replace(/\D/g, '')}.${hundredths.padStart(2, '0')}`;
}

/** Moves the point of an unsigned decimal to the right, and removes superfluous zeros. */
function shift(unsigned: string, power: number): string {
  const [whole = '', part = ''] = unsigned.split('.');
  const digits = whole + part;
  const point = whole.length + power;
  const padded = digits.padStart(digits.length + Math.max(0, -point), '0').padEnd(Math.max(point, digits.length), '0');
  const at = Math.max(0, point);
  const head = padded.slice(0, at).replace(/^0+/, '');
  const tail = trimEndOf(padded.slice(at), '0');
  return `${head || '0'}${tail === '' ? '' : `.${tail}`}`;
}

const localName = (format: string): string =>
  format
    .slice(format.indexOf(':') + 1)
    .replaceAll('-', '')
    .trim()
    .toLowerCase();

const MONTHS: readonly RegExp[] = [
  /^jan/,
  /^feb/,
  /^mar/,
  /^apr/,
  /^ma[jy]/,
  /^jun/,
  /^jul/,
  /^aug/,
  /^sep/,
  /^o[kc]t/,
  /^nov/,
  /^de[cs]/,
];

/**
 * Converts a date in numbers, or with the month's Danish or English name, to YYYY-MM-DD; returns other text unchanged.
 */
export function inlineDate(text: string, format: string): string {
  const order = localName(format);
  if (!order.startsWith('date')) return text;
  const parts = text.toLowerCase().match(/\d+|\p{L}{3,}/gu) ?? [];
  const year = parts.find((part) => /^\d{4}$/.test(part));
  const named = MONTHS.findIndex((month) => parts.some((part) => month.test(part)));
  const numbers = parts.filter((part) => /^\d{1,2}$/.test(part));
  const [first, second] = order.startsWith('datemonthday') ? numbers.toReversed() : numbers;
  const isYearFirst = order.startsWith('dateyear');
  const month = named >= 0 ? String(named + 1) : isYearFirst ? first : second;
  const day = isYearFirst && named < 0 ? second : first;
  if (year === undefined || month === undefined || day === undefined) return text;
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}
