/** The sign of uniqueness: a name that no other company has says more. */
import type { Sign, SignFinding } from '../weights.ts';

const WHOLE: readonly Sign[] = ['name-same', 'name-but-form', 'other-name-same', 'unit-name-same'];

/** Whether a candidate is the only one of the record's name; `sharedBy` is how many companies have or had it. */
export const uniquenessFindings = (findings: readonly SignFinding[], sharedBy: number): readonly SignFinding[] =>
  sharedBy === 1 && findings.some(({ sign }) => WHOLE.includes(sign)) ? [{ sign: 'name-unique' }] : [];
