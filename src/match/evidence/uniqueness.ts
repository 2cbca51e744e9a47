/** The sign of uniqueness: a name that no other company has says more. */
import type { Evidence, EvidenceFinding } from './weights.ts';

const WHOLE: readonly Evidence[] = ['name-same', 'name-but-form', 'other-name-same', 'unit-name-same'];

/** Whether a candidate is the only one of the record's name; `name` is how many companies have or had it. */
export const uniquenessFindings = (
  findings: readonly EvidenceFinding[],
  { name, isPartial }: { readonly name: number; readonly isPartial?: boolean },
): readonly EvidenceFinding[] => {
  if (name !== 1 || !findings.some(({ sign }) => WHOLE.includes(sign))) return [];
  return [{ sign: isPartial === true ? 'name-unique-in-part' : 'name-unique' }];
};
