/** Finds the company that each CRM record means. */

import { isCommonName } from '../protocol/danish/name-words.ts';
import { isPersonName } from '../protocol/danish/person-name.ts';
import { companyEntityId } from '../protocol/entity-id.ts';
import type { Db } from '../store/store.ts';
import { readAnswers } from './decide/answers.ts';
import { decideMatch, type MatchResult } from './decide/confidence.ts';
import type { Answers } from './decide/probability.ts';
import { describeRecord, type RecordText } from './describe/described.ts';
import { weighCandidate } from './evidence/score.ts';
import { findCandidates } from './index/candidates.ts';
import { readIndexState } from './index/state.ts';

/** People's earlier answers. */
export interface MatchAnswers {
  /** For each record, the entity ids that people rejected. */
  readonly rejected?: readonly ReadonlySet<string>[];
  /** Absent: reads them. A run reads them once and passes them. */
  readonly answers?: Answers;
}

/** Returns the results in the order of the records. */
export async function matchRecords(
  db: Db,
  records: readonly RecordText[],
  { rejected = [], answers }: MatchAnswers = {},
): Promise<readonly MatchResult[]> {
  const described = records.map(describeRecord);
  const found = await findCandidates(db, described);
  const answered = answers ?? (await readAnswers(db));
  const isPartial = (await readIndexState(db))?.isPartial === true;
  return described.map((record, at) => {
    const { candidates = [], sharedBy = NOBODY } = found[at] ?? {};
    const weighed = candidates
      .filter(({ company }) => rejected[at]?.has(companyEntityId(company)) !== true)
      .map((candidate) => weighCandidate(record, candidate, { ...sharedBy, isPartial }));
    const kind = {
      isForeign: record.isForeign,
      isPerson: isPersonName(records[at]?.name ?? ''),
      isPartial,
      isNamed: record.name.compact !== '',
      isCommon: record.name.owner === null && isCommonName(record.name.words),
    };
    return decideMatch(weighed, kind, answered);
  });
}

const NOBODY = { name: 0, phone: 0, domain: 0, address: 0 };
