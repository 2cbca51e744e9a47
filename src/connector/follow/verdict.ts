/** The verdict of a backfill on one record, by its number. Pure. */
import type { PropertyValue } from '../../../providers/provider.ts';
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import { companyEntityId } from '../../protocol/entity-id.ts';

/**
 * `matched`: its number is a company's; `linked`: it is linked to that company already; `ambiguous`: several records
 * have the number; `differs`: it is linked to another company than its number's; `removed`: a person removed its link
 * to that company; `changed`: it changed since the plan file; `moved`: merged into another record; `gone`: deleted.
 */
export const VERDICTS = [
  'matched',
  'linked',
  'no-number',
  'invalid',
  'unit',
  'ambiguous',
  'held',
  'differs',
  'removed',
  'changed',
  'moved',
  'gone',
] as const;
export type Verdict = (typeof VERDICTS)[number];

export const ACTIONS = ['link', 'skip'] as const;
export type Action = (typeof ACTIONS)[number];

/** Verdicts for a person; the backfill leaves these records unchanged. */
export const FOR_A_PERSON: readonly Verdict[] = ['ambiguous', 'invalid', 'unit', 'differs', 'changed'];

export interface NumberVerdict {
  readonly verdict: Verdict;
  readonly entity: string | null;
  readonly detail: string | null;
}

export const MISTYPED = "the number fails the register's check (modulus 11): is it mistyped?";
const PADDED = 'its leading zero was missing';

/** Remarks on a number that may be another company's: the record is linked only if a person says so in the plan. */
export const UNSURE: readonly (string | null)[] = [MISTYPED, PADDED];

export function verdictOf(value: PropertyValue, isHeld: boolean): NumberVerdict {
  const assessed = ofNumber(value);
  return isHeld && assessed.verdict === 'matched'
    ? { ...assessed, verdict: 'held', detail: 'on hold in the CRM' }
    : assessed;
}

function ofNumber(value: PropertyValue): NumberVerdict {
  const read = readCvrNumber(value);
  switch (read.kind) {
    case 'number':
      // A numeric property keeps no leading zero, so this number got one.
      return matched(read.number, read.valid ? (isPadded(value, read.number) ? PADDED : null) : MISTYPED);
    case 'lost-zero':
      return read.valid
        ? matched(read.number, PADDED)
        : { verdict: 'invalid', entity: null, detail: `has 7 digits, a CVR number has 8: is it ${read.number}?` };
    case 'production-unit':
      return { verdict: 'unit', entity: null, detail: 'the number of a production unit, not of a company' };
    case 'blank':
      return { verdict: 'no-number', entity: null, detail: null };
    case 'invalid':
      return { verdict: 'invalid', entity: null, detail: `the number ${read.reason}` };
  }
}

const isPadded = (value: PropertyValue, number: string): boolean => typeof value === 'number' && number.startsWith('0');

const matched = (number: string, detail: string | null): NumberVerdict => ({
  verdict: 'matched',
  entity: companyEntityId(number),
  detail,
});

const LONGEST = 300;

/** The value as the scan stores it: trimmed and cut; null if blank. */
export const kept = (value: PropertyValue | undefined): string | null => {
  const text = value === null || value === undefined ? '' : String(value).trim();
  return text === '' ? null : text.slice(0, LONGEST);
};
