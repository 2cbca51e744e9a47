/**
 * plan-doubts: what a plan file asks for that a person rarely means so often. A number that was dragged down a column, and
 * a column that was sorted without the others, look right line by line. Pure.
 */

import { passesModulus11 } from '../../../protocol/cvr-number.ts';
import { parseEntityId } from '../../../protocol/entity-id.ts';
import type { Verdict } from '../../follow/verdict.ts';
import { isTooMany } from './moved-numbers.ts';
import type { PlanLine } from './read-plan.ts';

/** How many lines that link have which doubt; a line may have several. */
export interface PlanWarnings {
  /** The record holds the number of another company. */
  readonly differing: number;
  /** A number that the record does not hold fails the register's check. */
  readonly failing: number;
  /** A number that the record does not hold follows the one in the line before. */
  readonly consecutive: number;
  /** Another line links the same number. */
  readonly shared: number;
  /** The scan advised against it, and did not find it linked already. */
  readonly against: number;
}

const MEANING: Readonly<Record<keyof PlanWarnings, string>> = {
  differing: 'have a different number from the one in the CRM',
  failing: "have a number of yours that fails the register's check (modulus 11)",
  consecutive: 'have a number of yours that follows the one in the line before',
  shared: 'have a number that is also in other lines',
  against: 'link what the scan advised against',
};

/** What the scan said of a line's record: its verdict, and the company whose number it holds. */
export interface Scanned {
  readonly verdict: string;
  readonly own: string | null;
  /** Its number fails the register's check, or was given a zero. */
  readonly isUnsure: boolean;
}

const SAFE: readonly string[] = ['matched', 'linked'] satisfies readonly Verdict[];

type Doubt = Exclude<keyof PlanWarnings, 'shared'>;

/** Whether the scan itself would link the record by its number. */
const isSafe = ({ verdict, isUnsure }: Scanned): boolean => SAFE.includes(verdict) && !isUnsure;

const againstScan = (scanned: Scanned): readonly Doubt[] => (isSafe(scanned) ? [] : ['against']);

/** What speaks against a number that a person gave. */
const ofGiven = (digits: string, follows: boolean, { own }: Scanned): readonly Doubt[] => [
  ...(own === null ? [] : (['differing'] as const)),
  ...(passesModulus11(digits) ? [] : (['failing'] as const)),
  ...(follows ? (['consecutive'] as const) : []),
];

/** Counts what speaks against the lines that link, in the order of the file. */
export function openWarnings(): { see(line: PlanLine, scanned: Scanned): void; counts(): PlanWarnings } {
  const linesOf = new Map<string, number>();
  const found = { differing: 0, failing: 0, consecutive: 0, against: 0 };
  let before: number | undefined;
  return {
    see({ action, entity }, scanned) {
      const digits = entity === undefined ? undefined : parseEntityId(entity)?.number;
      const number = digits === undefined ? undefined : Number(digits);
      const follows = number !== undefined && before !== undefined && number === before + 1;
      before = number;
      if (action !== 'link' || entity === undefined || digits === undefined) return;
      linesOf.set(entity, (linesOf.get(entity) ?? 0) + 1);
      const doubts = scanned.own === entity ? againstScan(scanned) : ofGiven(digits, follows, scanned);
      for (const kind of doubts) found[kind] += 1;
    },
    counts: () => ({
      ...found,
      shared: [...linesOf.values()].reduce((sum, lines) => sum + (lines > 1 ? lines : 0), 0),
    }),
  };
}

/** Whether one kind of doubt is more than a few corrections. */
export const isMany = (counts: Readonly<Record<string, number>>, toLink: number): boolean =>
  Object.values(counts).some((count) => isTooMany(count, toLink));

/** What each kind of doubt amounts to, in words; only those that are more than a few corrections where `many`. */
export const printWarnings = (warnings: PlanWarnings, toLink: number, many: boolean): readonly string[] =>
  Object.entries(MEANING).flatMap(([kind, meaning]) => {
    const count = countOf(warnings, kind);
    return (many ? isTooMany(count, toLink) : count > 0) ? `${count} ${meaning}` : [];
  });

const countOf = (warnings: PlanWarnings, kind: string): number =>
  Object.entries(warnings).find(([name]) => name === kind)?.[1] ?? 0;
