/** verdict: what the candidates of a record amount to. Pure. */
import type { ScoredCandidate } from './score.ts';
import { SIGNS, type Sign, type SignGroup } from './weights.ts';

/**
 * What a record means.
 * `certain` two strong signs of different kinds agree and no other company comes near; `likely` one is clearly the best;
 * `ambiguous` several come near, or the best has too little; `dissolved` the best has ended; `foreign` it says that it is not
 * Danish; `person` it is a natural person; `none` nothing is near.
 */
export type MatchVerdict = 'certain' | 'likely' | 'ambiguous' | 'dissolved' | 'foreign' | 'person' | 'none';

export interface MatchResult {
  readonly verdict: MatchVerdict;
  /** The best first, or the one that bears the record's name; of `foreign`, `person` and `none` empty. */
  readonly candidates: readonly ScoredCandidate[];
}

/** What the record says of itself. */
export interface RecordKind {
  readonly isForeign: boolean;
  readonly isPerson: boolean;
}

/** A candidate below is nobody. */
const NEAR = 35;
const LIKELY = 50;
/** By how much the best must lead. */
const LEAD = 5;
const CERTAIN_LEAD = 25;
const SHOWN = 5;

/** Judges scored candidates, in whatever order. */
export function judge(scored: readonly ScoredCandidate[], { isForeign, isPerson }: RecordKind): MatchResult {
  const sorted = scored.toSorted((a, b) => b.score - a.score || (a.company < b.company ? -1 : 1));
  const candidates = sorted.filter(({ score }) => score >= NEAR).slice(0, SHOWN);
  const [best, second] = candidates;
  if (isForeign && (best === undefined || best.strong < 2)) return { verdict: 'foreign', candidates: [] };
  if (isPerson && (best === undefined || best.strong < 2)) return { verdict: 'person', candidates: [] };
  if (best === undefined) return { verdict: 'none', candidates: [] };
  const rival = isStrongly(best, 'name') ? undefined : sorted.find((one) => one !== best && bearsName(one));
  if (rival === undefined) return { verdict: verdictOf(best, best.score - (second?.score ?? 0)), candidates };
  // The name is what a person sees first.
  return { verdict: 'ambiguous', candidates: [rival, ...candidates.filter((one) => one !== rival)].slice(0, SHOWN) };
}

/** Whether a live company is called as the record is. */
const bearsName = (candidate: ScoredCandidate): boolean => candidate.ended === null && isStrongly(candidate, 'name');

function verdictOf(best: ScoredCandidate, lead: number): MatchVerdict {
  if (lead < LEAD || best.score < LIKELY || !isNamed(best)) return 'ambiguous';
  if (best.ended !== null) return 'dissolved';
  return isCertain(best) && lead >= CERTAIN_LEAD ? 'certain' : 'likely';
}

const isStrongly = (candidate: ScoredCandidate, group: SignGroup): boolean => {
  const sign = signOf(candidate, group);
  return sign !== undefined && SIGNS[sign].isStrong;
};

const signOf = ({ findings }: ScoredCandidate, group: SignGroup): Sign | undefined =>
  findings.find(({ sign }) => SIGNS[sign].group === group)?.sign;

const UNNAMED: readonly Sign[] = ['name-part', 'name-other-word', 'former-name-of-group'];

/**
 * Whether the name says more than that both are of one group: with phone and address alone, the company that is meant may
 * be a sister that the index does not hold.
 */
function isNamed(candidate: ScoredCandidate): boolean {
  const name = signOf(candidate, 'name');
  if (name !== undefined && UNNAMED.includes(name)) return signOf(candidate, 'number') !== undefined;
  if (name !== undefined && name !== 'name-of-domain') return true;
  return signOf(candidate, 'number') !== undefined || signOf(candidate, 'domain') === 'domain-own';
}

/** Names that a certain match may have beside strong ones, where two other signs are strong. */
const NEARLY: readonly Sign[] = ['name-but-town', 'name-spelling', 'name-swapped'];

function isCertain(candidate: ScoredCandidate): boolean {
  const name = signOf(candidate, 'name');
  if (name === undefined || !(SIGNS[name].isStrong || NEARLY.includes(name))) return false;
  // In another town it may be a namesake, whose domain is spelled by the same name.
  return candidate.strong >= (signOf(candidate, 'address') === 'address-elsewhere' ? 3 : 2);
}
