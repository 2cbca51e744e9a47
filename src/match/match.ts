/** match: the company that each record of a CRM means. */
import { isPersonName } from '../protocol/danish/person-name.ts';
import { companyEntityId } from '../protocol/entity-id.ts';
import type { Db } from '../store/store.ts';
import { describeRecord, type RecordText } from './described.ts';
import { findCandidates } from './index/candidates.ts';
import { readIndexState } from './index/state.ts';
import { scoreCandidate } from './score.ts';
import { judge, type MatchResult } from './verdict.ts';

/**
 * Compares records with the company index; the results are in the order of the records. `rejected` holds for each record the
 * entity ids of companies that a person said it does not mean.
 */
export async function matchRecords(
  db: Db,
  records: readonly RecordText[],
  rejected: readonly ReadonlySet<string>[] = [],
): Promise<readonly MatchResult[]> {
  const described = records.map(describeRecord);
  const found = await findCandidates(db, described);
  const isPartial = (await readIndexState(db))?.isPartial === true;
  return described.map((record, at) => {
    const { candidates = [], sharedBy = NOBODY } = found[at] ?? {};
    const scored = candidates
      .filter(({ company }) => rejected[at]?.has(companyEntityId(company)) !== true)
      .map((candidate) => scoreCandidate(record, candidate, { ...sharedBy, isPartial }));
    return judge(scored, { isForeign: record.isForeign, isPerson: isPersonName(records[at]?.name ?? '') });
  });
}

const NOBODY = { name: 0, phone: 0, domain: 0, address: 0 };
