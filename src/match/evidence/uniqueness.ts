/** Evidence from uniqueness: a name that no other company has counts more. */
import type { Evidence, EvidenceFinding } from './weights.ts';

const WHOLE: readonly Evidence[] = ['name-same', 'name-but-form', 'other-name-same', 'unit-name-same'];

/** `name`: the number of companies that have or had the record's name. */
export const uniquenessFindings = (
  findings: readonly EvidenceFinding[],
  { name, isPartial }: { readonly name: number; readonly isPartial?: boolean },
): readonly EvidenceFinding[] => {
  if (name !== 1 || !findings.some(({ evidence }) => WHOLE.includes(evidence))) return [];
  return [{ evidence: isPartial === true ? 'name-unique-in-part' : 'name-unique' }];
};
