/** Decides which company a record means, and how certain that is. Pure. */

import type { WeighedCandidate } from '../evidence/score.ts';
import { EVIDENCE, type Evidence, type EvidenceFinding } from '../evidence/weights.ts';
import { evidenceIn, isStrong, type Pattern, patternOf, patternText, type RecordName } from './pattern.ts';
import { type Answers, enoughAnswers, probabilityOf } from './probability.ts';

/**
 * How certainly a record means a company.
 * `certain`: two strong pieces of evidence of different kinds agree, and the first candidate is almost surely right;
 * `likely`: it probably is; `ambiguous`: it may be another one; `dissolved`: it has ended; `foreign`: the record says that
 * it is not Danish; `person`: it is a natural person; `none`: there is no candidate.
 */
export type Confidence = 'certain' | 'likely' | 'ambiguous' | 'dissolved' | 'foreign' | 'person' | 'none';

export interface ScoredCandidate extends WeighedCandidate {
  /** The probability that the record means this company, in percent. */
  readonly score: number;
}

export interface MatchResult {
  readonly confidence: Confidence;
  /** The most probable first; empty for `foreign`, `person` and `none`. */
  readonly candidates: readonly ScoredCandidate[];
  /** The pattern of the first candidate; answers are counted by it. */
  readonly pattern?: string;
}

/** The record, and the index that it was compared with. */
export interface RecordKind extends RecordName {
  readonly isForeign: boolean;
  readonly isPerson: boolean;
  /** The index lacks companies. */
  readonly isPartial: boolean;
}

/** Candidates of less weight are ignored. */
const NEAR = 35;
const SHOWN = 5;
/** In percent. */
const CERTAIN = 100;
const LIKELY = 75;

/** Takes the candidates in any order. */
export function decideMatch(
  weighed: readonly WeighedCandidate[],
  record: RecordKind,
  answers: Answers = new Map(),
): MatchResult {
  const sorted = weighed.toSorted((a, b) => b.weight - a.weight || (a.company < b.company ? -1 : 1));
  const near = sorted.filter(({ weight }) => weight >= NEAR).slice(0, SHOWN);
  const [best] = near;
  if (record.isForeign && (best === undefined || best.strong < 2)) return { confidence: 'foreign', candidates: [] };
  if (record.isPerson && !(best !== undefined && standsFor(best))) return { confidence: 'person', candidates: [] };
  if (best === undefined) return { confidence: 'none', candidates: [] };
  // People look at the name first.
  const first = (isStrong(best, 'name') ? undefined : sorted.find(bearsName)) ?? best;
  const others = near.filter((one) => one !== first).slice(0, SHOWN - 1);
  const pattern = patternOf(
    first,
    sorted.filter((one) => one !== first),
    record,
  );
  const probability = probabilityOf(pattern, answers);
  const score = Math.round(Math.min(probability * 100, mostOf(first, pattern, record)));
  return {
    confidence: confidenceOf(first, score),
    candidates: [
      { ...first, score, findings: withAnswers(first, enoughAnswers(pattern, answers)) },
      ...restOf(others, score),
    ],
    pattern: patternText(pattern),
  };
}

/** Whether an active company has the record's name. */
const bearsName = (candidate: WeighedCandidate): boolean => candidate.ended === null && isStrong(candidate, 'name');

/** Whether a record with a person's name means the company: the person owns it or uses its domain. */
const standsFor = (best: WeighedCandidate): boolean =>
  best.strong >= 2 || evidenceIn(best, 'name') === 'name-owner' || evidenceIn(best, 'domain') === 'domain-own';

/** Names of another company, which the index may lack. */
const ANOTHERS: readonly Evidence[] = ['name-other-word', 'name-other-owner', 'name-of-sister', 'former-name-of-group'];

/** Name classes in which candidates of equal weight cannot be told apart. */
const SEVERALS: readonly Pattern['name'][] = ['part', 'group', 'common', 'same'];

/** The highest score that the candidate may get; only a possibly certain match gets 100. */
function mostOf(first: WeighedCandidate, pattern: Pattern, { isPartial }: RecordKind): number {
  const { kind, rival } = pattern;
  const name = evidenceIn(first, 'name');
  const isAnothers = name !== undefined && ANOTHERS.includes(name);
  // A complete index would hold the company of this name.
  const isGroups = name === undefined && evidenceIn(first, 'domain') === 'domain-of-group';
  const mayLackIt = isAnothers || isGroups || (isPartial && name === 'name-without-group');
  const isOneOfMany = rival === 'level' && SEVERALS.includes(pattern.name);
  if (isOneOfMany || kind === 'outweighed' || (mayLackIt && kind !== 'number')) return LIKELY - 1;
  return isTwofold(first) && rival === 'far' ? CERTAIN : CERTAIN - 1;
}

function confidenceOf(first: WeighedCandidate, score: number): Confidence {
  if (score < LIKELY) return 'ambiguous';
  if (first.ended !== null) return 'dissolved';
  return score === CERTAIN ? 'certain' : 'likely';
}

/** Weaker name evidence that still allows a certain match if two other kinds are strong. */
const NEARLY: readonly Evidence[] = ['name-but-town', 'name-spelling', 'name-swapped'];
const ELSEWHERE: readonly Evidence[] = ['address-elsewhere', 'chain-elsewhere', 'address-abroad'];

/** Whether two kinds of strong evidence agree and the name agrees. */
function isTwofold(candidate: WeighedCandidate): boolean {
  const name = evidenceIn(candidate, 'name');
  if (name === undefined || !(EVIDENCE[name].isStrong || NEARLY.includes(name))) return false;
  const address = evidenceIn(candidate, 'address');
  // In another town it may be a namesake whose domain is spelled from the same name.
  return candidate.strong >= (address !== undefined && ELSEWHERE.includes(address) ? 3 : 2);
}

const withAnswers = (
  { findings }: WeighedCandidate,
  answered: ReturnType<typeof enoughAnswers>,
): readonly EvidenceFinding[] =>
  answered === undefined
    ? findings
    : [...findings, { evidence: 'answers', what: `${answered.accepted}/${answered.of}` }];

/** The share of the remaining probability that the next candidate gets; the rest means no candidate. */
const NEXT = 0.5;

/** Divides the probability that the first candidate leaves. */
function restOf(others: readonly WeighedCandidate[], first: number): readonly ScoredCandidate[] {
  let left = 100 - first;
  return others.map((one) => {
    const score = Math.min(first, Math.round(left * NEXT));
    left -= score;
    return { ...one, score };
  });
}
