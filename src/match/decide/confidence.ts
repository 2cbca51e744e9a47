/** confidence: what the candidates of a record amount to. Pure. */

import type { WeighedCandidate } from '../evidence/score.ts';
import { EVIDENCE, type Evidence, type EvidenceFinding } from '../evidence/weights.ts';
import { isStrong, type Pattern, patternOf, patternText, type RecordName, signOf } from './pattern.ts';
import { type Answers, enoughAnswers, probabilityOf } from './probability.ts';

/**
 * What a record means.
 * `certain` two strong signs of different kinds agree and the first company is almost surely the one meant; `likely` it probably
 * is; `ambiguous` another one may be; `dissolved` it has ended; `foreign` the record says that it is not Danish; `person` it is
 * a natural person; `none` nothing is near.
 */
export type Confidence = 'certain' | 'likely' | 'ambiguous' | 'dissolved' | 'foreign' | 'person' | 'none';

export interface ScoredCandidate extends WeighedCandidate {
  /** How probable it is that this is the company meant, in percent. */
  readonly score: number;
}

export interface MatchResult {
  readonly confidence: Confidence;
  /** The most probable first; of `foreign`, `person` and `none` empty. */
  readonly candidates: readonly ScoredCandidate[];
  /** The pattern of the first candidate, by which answers are counted. */
  readonly pattern?: string;
}

/** What the record says of itself, and what it was compared with. */
export interface RecordKind extends RecordName {
  readonly isForeign: boolean;
  readonly isPerson: boolean;
  /** Whether the index lacks companies. */
  readonly isPartial: boolean;
}

/** A candidate of less weight is nobody. */
const NEAR = 35;
const SHOWN = 5;
/** In percent. */
const CERTAIN = 100;
const LIKELY = 75;

/** Judges weighed candidates, in whatever order. */
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
  // The name is what a person sees first.
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
    confidence: verdictOf(first, score),
    candidates: [
      { ...first, score, findings: withAnswers(first, enoughAnswers(pattern, answers)) },
      ...restOf(others, score),
    ],
    pattern: patternText(pattern),
  };
}

/** Whether a live company is called as the record is. */
const bearsName = (candidate: WeighedCandidate): boolean => candidate.ended === null && isStrong(candidate, 'name');

/** Whether a record of a person's name means the company: the person owns it, or writes from its domain. */
const standsFor = (best: WeighedCandidate): boolean =>
  best.strong >= 2 || signOf(best, 'name') === 'name-owner' || signOf(best, 'domain') === 'domain-own';

/** Names of another company, which the index may lack. */
const ANOTHERS: readonly Evidence[] = ['name-other-word', 'name-other-owner', 'name-of-sister', 'former-name-of-group'];

/** Names that level candidates all have. */
const SEVERALS: readonly Pattern['name'][] = ['part', 'group', 'common', 'same'];

/** What no table lifts a candidate above: a hundred is for those that may be certain. */
function mostOf(first: WeighedCandidate, pattern: Pattern, { isPartial }: RecordKind): number {
  const { kind, rival } = pattern;
  const name = signOf(first, 'name');
  const isAnothers = name !== undefined && ANOTHERS.includes(name);
  // A whole index would hold the company that is called as the record is.
  const isGroups = name === undefined && signOf(first, 'domain') === 'domain-of-group';
  const mayLackIt = isAnothers || isGroups || (isPartial && name === 'name-without-group');
  const isOneOfMany = rival === 'level' && SEVERALS.includes(pattern.name);
  if (isOneOfMany || kind === 'outweighed' || (mayLackIt && kind !== 'number')) return LIKELY - 1;
  return isTwofold(first) && rival === 'far' ? CERTAIN : CERTAIN - 1;
}

function verdictOf(first: WeighedCandidate, score: number): Confidence {
  if (score < LIKELY) return 'ambiguous';
  if (first.ended !== null) return 'dissolved';
  return score === CERTAIN ? 'certain' : 'likely';
}

/** Names that a certain match may have beside strong ones, where two other signs are strong. */
const NEARLY: readonly Evidence[] = ['name-but-town', 'name-spelling', 'name-swapped'];
const ELSEWHERE: readonly Evidence[] = ['address-elsewhere', 'chain-elsewhere', 'address-abroad'];

/** Whether two strong signs agree, and the name among those that do. */
function isTwofold(candidate: WeighedCandidate): boolean {
  const name = signOf(candidate, 'name');
  if (name === undefined || !(EVIDENCE[name].isStrong || NEARLY.includes(name))) return false;
  const address = signOf(candidate, 'address');
  // In another town it may be a namesake, whose domain is spelled by the same name.
  return candidate.strong >= (address !== undefined && ELSEWHERE.includes(address) ? 3 : 2);
}

const withAnswers = (
  { findings }: WeighedCandidate,
  answered: ReturnType<typeof enoughAnswers>,
): readonly EvidenceFinding[] =>
  answered === undefined ? findings : [...findings, { sign: 'answers', what: `${answered.accepted}/${answered.of}` }];

/** Of what is left for others, how much is the next one's: the rest is the chance that no candidate is meant. */
const NEXT = 0.5;

/** The others with their share of what the first one leaves. */
function restOf(others: readonly WeighedCandidate[], first: number): readonly ScoredCandidate[] {
  let left = 100 - first;
  return others.map((one) => {
    const score = Math.min(first, Math.round(left * NEXT));
    left -= score;
    return { ...one, score };
  });
}
