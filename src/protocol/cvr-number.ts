/** CVR numbers as people and systems write them: `DK 12 34 56 78`, `12.34.56.78`, `CVR-nr.: 12345678`. */
import { canonicalEntityId, companyEntityId, parseEntityId } from './entity-id.ts';

/**
 * How a text reads as a CVR number. `valid` is the register's modulus-11 check: a warning, never a refusal. `lost-zero`
 * has seven digits, probably after a spreadsheet dropped a leading zero; `number` is the padded guess.
 * `production-unit` is a P-number: a place, not a company.
 */
export type CvrReading =
  | { readonly kind: 'number'; readonly number: string; readonly valid: boolean }
  | { readonly kind: 'lost-zero'; readonly number: string; readonly valid: boolean }
  | { readonly kind: 'production-unit'; readonly number: string }
  | { readonly kind: 'blank' }
  | { readonly kind: 'invalid'; readonly reason: string };

const WEIGHTS = [2, 7, 6, 5, 4, 3, 2, 1] as const;
const INVISIBLE = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]/g;
const LABEL = /^(?:(?:cvr|vat|moms|se)(?:[\s.-]*(?:nr|no|nummer|number|id))?[\s.:#-]*)?(?:dk[\s.:-]*)?/i;
const UNIT_LABEL = /^p(?:[\s-]*(?:enhed|nr|no|nummer|number))?[\s.:#-]*(\d)/i;
const SEPARATED = /^[\d\s.,'/_-]*$/;
// Danish personal numbers are six digits, a dash and four digits: never read them as a P-number.
const PERSONAL = /^\d{6}-\d{4}$/;

/** A spreadsheet cell formatted as a number with decimals: digits only, or with the other mark between thousands. */
const SPREADSHEET = /^(\d{7,8}(?=[.,])|\d{1,2}(?:\.\d{3}){2}(?=,)|\d{1,2}(?:,\d{3}){2}(?=\.))[.,]0{1,2}$/;

/** The register's check: the weighted sum of the eight digits is a multiple of 11. */
export const passesModulus11 = (number: string): boolean =>
  WEIGHTS.reduce((sum, weight, index) => sum + weight * Number(number[index]), 0) % 11 === 0;

const invalid = (reason: string): CvrReading => ({ kind: 'invalid', reason });

const ofDigits = (digits: string, pad: boolean): CvrReading => {
  if (/^0*$/.test(digits)) return invalid('is all zeros');
  if (digits.length === 8) return { kind: 'number', number: digits, valid: passesModulus11(digits) };
  if (digits.length === 10 && digits.startsWith('1')) return { kind: 'production-unit', number: digits };
  if (digits.length !== 7) return invalid(`has ${digits.length} digits, a CVR number has 8`);
  const number = `0${digits}`;
  return { kind: pad ? 'number' : 'lost-zero', number, valid: passesModulus11(number) };
};

const ofEntityId = (text: string): CvrReading | undefined => {
  const id = parseEntityId(text);
  if (id?.source !== 'CVR') return undefined;
  if (id.kind === 'company') return ofDigits(id.number, false);
  return id.kind === 'productionUnit'
    ? { kind: 'production-unit', number: id.number }
    : invalid('is the entity id of something that is not a company');
};

/** Removes invisible characters of editors and spreadsheets, and makes every dash a hyphen. */
const cleaned = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(/\p{Pd}/gu, '-')
    .trim();

/** Removes the label; `isUnit` says whether it names a P-number. */
const unlabelled = (text: string): { readonly bare: string; readonly isUnit: boolean } => {
  const unit = text.replace(UNIT_LABEL, '$1');
  return unit === text ? { bare: text.replace(LABEL, ''), isUnit: false } : { bare: unit, isUnit: true };
};

const ofLabelled = (text: string, pad: boolean): CvrReading => {
  const { bare, isUnit } = unlabelled(text);
  if (!SEPARATED.test(bare)) return invalid('has other characters than digits and separators');
  if (PERSONAL.test(bare)) return invalid('is written like a personal number');
  const digits = bare.replace(/\D/g, '');
  if (digits === '') return bare === text ? { kind: 'blank' } : invalid('has no digits');
  const reading = ofDigits(digits, pad);
  return isUnit && reading.kind !== 'production-unit' ? invalid('is labelled as a P-number but is not one') : reading;
};

const ofText = (given: string, pad: boolean): CvrReading => {
  const text = cleaned(given);
  if (text === '') return { kind: 'blank' };
  const entity = ofEntityId(text);
  if (entity !== undefined) return entity;
  const spreadsheet = SPREADSHEET.exec(text)?.[1];
  return spreadsheet === undefined ? ofLabelled(text, pad) : ofDigits(spreadsheet.replace(/\D/g, ''), pad);
};

const ofNumber = (number: number | bigint): CvrReading => {
  const text = String(number);
  return /^\d+$/.test(text) ? ofDigits(text, true) : invalid('is not a whole positive number');
};

/**
 * Reads a CVR number in any common spelling, an entity id, a number, or a spreadsheet's `12345678,00`. Pads a
 * JavaScript number of seven digits, which cannot hold leading zeros; pads a text only with `pad`.
 */
export const readCvrNumber = (input: unknown, options: { readonly pad?: boolean } = {}): CvrReading => {
  if (input === null || input === undefined) return { kind: 'blank' };
  if (typeof input === 'number' || typeof input === 'bigint') return ofNumber(input);
  if (typeof input === 'string') return ofText(input, options.pad ?? false);
  return invalid(`is ${Array.isArray(input) ? 'a list' : `of type ${typeof input}`}`);
};

/** The canonical entity id of a text that is an entity id or a CVR number in any spelling. */
export function entityIdIn(text: string): string | undefined {
  const cvr = readCvrNumber(text);
  return canonicalEntityId(text) ?? (cvr.kind === 'number' ? companyEntityId(cvr.number) : undefined);
}

/** Whether an entity id is a company's whose number fails the register's check. */
export function isMistyped(entity: string): boolean {
  const id = parseEntityId(entity);
  return id?.kind === 'company' && id.source === 'CVR' && !passesModulus11(id.number);
}
