/**
 * The seed and the size of chaos. The suite runs one seed and small sizes, so that a change is not refused for a rare fault of
 * another part, and of the tests those that have most faults in one; the night runs all. `npm run chaos` runs all sizes, each
 * time with another seed.
 */

import { ALL } from '../support/all.ts';

/** What all that is random comes from: CVRSYNC_CHAOS_SEED, or 1. */
export const SEED = setting('SEED', 1);

/** Whether the tests run in full: CVRSYNC_CHAOS_FULL=1. */
export const FULL = setting('FULL', 0) === 1;

/** Whether the tests run that the suite leaves to the night: also if somebody sets what chaos is to be. */
export const NIGHT = ALL || Object.keys(process.env).some((name) => name.startsWith('CVRSYNC_CHAOS_'));

/** A size of a test: that of `CVRSYNC_CHAOS_<name>` if it is set, else that of the suite or of the full run. */
export const sizeOf = (name: string, small: number, full: number): number => setting(name, FULL ? full : small);

function setting(name: string, usual: number): number {
  const value = process.env[`CVRSYNC_CHAOS_${name}`];
  return value === undefined ? usual : Number(value);
}
