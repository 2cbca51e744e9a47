/** Explains the confidence of a match in words. Pure. */
import type { ScoredCandidate } from '../../match/decide/confidence.ts';
import { EVIDENCE, type Evidence, type EvidenceGroup } from '../../match/evidence/weights.ts';
import type { MatchedRecord } from './results.ts';

export type RuleLanguage = 'en' | 'da';
type Words = Readonly<Record<RuleLanguage, string>>;

/** Evidence against a company, or without weight. */
const AGAINST: readonly Evidence[] = [
  'address-abroad',
  'address-elsewhere',
  'answers',
  'chain-elsewhere',
  'domain-abroad',
  'domain-other',
  'ended',
  'name-other-word',
  'name-unique',
  'name-unique-in-part',
  'phone-abroad',
  'phone-other',
  'street-other',
];

const NOUNS: Readonly<Record<EvidenceGroup, Words>> = {
  name: { en: 'the name', da: 'navnet' },
  address: { en: 'the address', da: 'adressen' },
  phone: { en: 'the phone', da: 'telefonnummeret' },
  domain: { en: 'the domain', da: 'domænet' },
  number: { en: 'the number', da: 'nummeret' },
  uniqueness: { en: 'a name of its own', da: 'et navn for sig' },
  life: { en: 'its life', da: 'dens liv' },
  answers: { en: 'your answers', da: 'dine svar' },
};

const RULES = {
  certain: { en: '{signs} agree', da: '{signs} stemmer' },
  'several-bear': { en: '{count} companies bear this name', da: '{count} virksomheder bærer dette navn' },
  'rival-bears': {
    en: 'a company bears this name, and another one has more signs',
    da: 'en virksomhed bærer dette navn, og en anden har flere tegn',
  },
  'only-one': { en: 'only {signs} speaks for it', da: 'kun {signs} taler for den' },
  'one-strong': { en: 'of the signs only {signs} is strong', da: 'kun {signs} er et stærkt tegn' },
  'no-strong': { en: 'no sign is strong', da: 'intet tegn er stærkt' },
  near: { en: '{count} companies come near', da: '{count} virksomheder er tæt på' },
  'not-quite': { en: 'the name or place is not quite the same', da: 'navnet eller stedet er ikke helt ens' },
  ended: { en: 'the best company has ended', da: 'den bedste virksomhed er ophørt' },
  foreign: { en: 'the record is not Danish', da: 'posten er ikke dansk' },
  person: { en: 'the record is a natural person', da: 'posten er en fysisk person' },
  none: { en: 'no company is near', da: 'ingen virksomhed er tæt på' },
} as const satisfies Readonly<Record<string, Words>>;
type Rule = keyof typeof RULES;

/** Such as `2 companies bear this name`. */
export function ruleText(found: Pick<MatchedRecord, 'confidence' | 'candidates'>, language: RuleLanguage): string {
  const [best] = found.candidates;
  const rule = ruleOf(found, best);
  const bearers = found.candidates.filter(bearsName).length;
  const count = rule === 'several-bear' ? bearers : found.candidates.length;
  const groups = best === undefined ? [] : groupsOf(best, rule !== 'only-one');
  const signs = groups.map((group) => NOUNS[group][language]).join(language === 'en' ? ' and ' : ' og ');
  return RULES[rule][language].replace('{count}', String(count)).replace('{signs}', signs);
}

function ruleOf(
  { confidence, candidates }: Pick<MatchedRecord, 'confidence' | 'candidates'>,
  best?: ScoredCandidate,
): Rule {
  if (best === undefined) return confidence === 'foreign' || confidence === 'person' ? confidence : 'none';
  if (confidence === 'certain') return 'certain';
  if (confidence === 'dissolved') return 'ended';
  if (confidence === 'ambiguous' && candidates.filter(bearsName).length > 1) return 'several-bear';
  if (bearsName(best) && candidates.some(({ weight }) => weight > best.weight)) return 'rival-bears';
  if (groupsOf(best, false).length === 1) return 'only-one';
  if (candidates.length > 1 && confidence === 'ambiguous') return 'near';
  return shortOf(groupsOf(best, true).length, candidates.length);
}

function shortOf(strong: number, candidates: number): Rule {
  if (strong === 0) return 'no-strong';
  if (strong === 1) return 'one-strong';
  return candidates > 1 ? 'near' : 'not-quite';
}

const bearsName = (candidate: ScoredCandidate): boolean =>
  candidate.ended === null && groupsOf(candidate, true).includes('name');

const groupsOf = ({ findings }: ScoredCandidate, isStrong: boolean): readonly EvidenceGroup[] =>
  findings.flatMap(({ evidence }) =>
    AGAINST.includes(evidence) || (isStrong && !EVIDENCE[evidence].isStrong) ? [] : EVIDENCE[evidence].group,
  );
