/** verdict: what one record of the CRM is for a backfill, by the number it holds. Pure. */
import type { PropertyValue } from '../../../providers/provider.ts';
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import { companyEntityId } from '../../protocol/entity-id.ts';

/**
 * What a record is for a backfill.
 * `matched` its number is a company's; `linked` it stands for that company already;
 * `ambiguous` several records have the number; `differs` it is linked to another company than its number says;
 * `removed` a person took its link to that company away;
 * `changed` it is no longer what a plan file took it for; `moved` merged into another record; `gone` deleted.
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

/** What is to be done with a record; a person may edit it in a plan file. */
export const ACTIONS = ['link', 'skip'] as const;
export type Action = (typeof ACTIONS)[number];

/** Verdicts that a person should look at: nothing is done with their records. */
export const FOR_A_PERSON: readonly Verdict[] = ['ambiguous', 'invalid', 'unit', 'differs', 'changed'];

/** What a record's number says of it. */
export interface NumberVerdict {
  readonly verdict: Verdict;
  /** The canonical entity id, where the number is a company's. */
  readonly entity: string | null;
  /** For people, where there is more to say. */
  readonly detail: string | null;
}

/** The note of a number that may be none. */
export const MISTYPED = "the number fails the register's check (modulus 11): is it mistyped?";
/** The note of a number that was read with a zero before it. */
const PADDED = 'its leading zero was missing';

/** Notes of a matched record whose number may be another company's: it is linked if a person says so in a plan. */
export const UNSURE: readonly (string | null)[] = [MISTYPED, PADDED];

/** Reads what a record holds as its number; `isHeld` is the CRM's word that the record is to be left alone. */
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
      // A property of numbers keeps no leading zero: it was put there to read this one.
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

/** A property's value as the scan keeps it: a text of bounded length; null if blank. */
export const kept = (value: PropertyValue | undefined): string | null => {
  const text = value === null || value === undefined ? '' : String(value).trim();
  return text === '' ? null : text.slice(0, LONGEST);
};
