/** The rule by which a recoding is told from changes. Pure. */
import type { IndustryChange } from './differ.ts';

/** How many companies were seen to change their industry, beside the one in question. */
export interface RecodingCounts {
  /** From the one code to the other with the same first day, ever. */
  readonly samePair: number;
  /** To anything with the same first day, in this page. */
  readonly sameDay: number;
  /** Documents in this page. */
  readonly documents: number;
}

/** So many companies do not move from one code to another on the same day by themselves. */
const PAIRS = 25;
/** In a page at least so many, and so large a share of it. */
const IN_PAGE = 10;
const SHARE = 0.2;

/**
 * Whether a change of an industry code is the register's recoding. Another text for the same code always is. A recoded
 * day shows as many changes in one page or, where the register spreads them, as many changes between the same two codes
 * with the same first day.
 */
export const isRecoding = (counts: RecodingCounts, { before, after, from }: IndustryChange): boolean => {
  if (before === after) return true;
  if (from === null) return false;
  const { samePair, sameDay, documents } = counts;
  return samePair >= PAIRS || (sameDay >= IN_PAGE && sameDay >= documents * SHARE);
};
