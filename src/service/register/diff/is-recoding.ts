import type { IndustryChange } from './differ.ts';

export interface RecodingCounts {
  /** Changes between the same two codes with the same first day, ever. */
  readonly samePair: number;
  /** Changes to any code with the same first day, in this page. */
  readonly sameDay: number;
  readonly documents: number;
}

/** More than the companies that move between two codes on the same day without a recoding. */
const PAIRS = 25;
/** In one page, at least this many changes and this share of the documents. */
const IN_PAGE = 10;
const SHARE = 0.2;

/**
 * Whether a change of an industry code is the register's recoding. A new text for the same code always is. A day of
 * recoding has as many changes in one page or, if the register spreads them, as many changes between the same two codes
 * with the same first day. Pure.
 */
export const isRecoding = (counts: RecodingCounts, { before, after, from }: IndustryChange): boolean => {
  if (before === after) return true;
  if (from === null) return false;
  const { samePair, sameDay, documents } = counts;
  return samePair >= PAIRS || (sameDay >= IN_PAGE && sameDay >= documents * SHARE);
};
