/** One line of a match's plan: the record and its company, for a person with a spreadsheet. Pure. */

import type { ScoredCandidate } from '../../match/decide/confidence.ts';
import type { IndexEntry } from '../../match/describe/entry.ts';
import { reasonText } from '../../match/evidence/weights.ts';
import { agrees, partOf, SHOWN_PARTS, type ShownPart } from './parts.ts';
import type { MatchedRecord } from './results.ts';
import { type RuleLanguage, ruleText } from './rule.ts';

/** An import reads `record`, `number`, `action` and `scanned`; the other columns are for people. */
export const PLAN_COLUMNS = [
  'record',
  'name',
  'number',
  'confidence',
  'action',
  'score',
  'note',
  'company',
  'form',
  'state',
  'street',
  'company street',
  'town',
  'company town',
  'phone',
  'company phone',
  'website',
  'company website',
  'differs',
  'others',
  'page',
  'scanned',
] as const;

export interface PlanLineContext {
  readonly action: 'link' | 'skip';
  readonly doubt: string | undefined;
  readonly language: RuleLanguage;
  readonly page: string | undefined;
  readonly entries: ReadonlyMap<string, IndexEntry>;
}

export function planLine(
  found: MatchedRecord,
  { action, doubt, language, page, entries }: PlanLineContext,
): readonly string[] {
  const { recordId, record, confidence, candidates } = found;
  const [best, ...others] = candidates;
  const entry = entries.get(best?.company ?? '');
  const own = (part: ShownPart): string => record[part] ?? '';
  const theirs = (part: ShownPart): string => partOf(part, entry) ?? '';
  const townIn = (textOf: typeof own): string => joined([textOf('postalCode'), textOf('city')], ' ');
  return [
    recordId,
    own('name'),
    best?.company ?? '',
    confidence,
    action,
    String(best?.score ?? ''),
    joined([doubt, ruleText(found, language), ...reasonsOf(best, language)], '; '),
    best?.name ?? '',
    entry?.form ?? '',
    best && stateOf(best),
    own('street'),
    theirs('street'),
    townIn(own),
    townIn(theirs),
    own('phone'),
    theirs('phone'),
    own('website'),
    theirs('website'),
    joined(differing(found, entry), ', '),
    joined(
      others.map((other) => otherText(other, entries.get(other.company))),
      ' | ',
    ),
    page,
    record.number ?? '',
  ].map((cell) => cell ?? '');
}

const joined = (parts: readonly (string | null | undefined)[], mark: string): string =>
  parts.filter(Boolean).join(mark);

function reasonsOf(best: ScoredCandidate | undefined, language: RuleLanguage): readonly string[] {
  if (best === undefined) return [];
  const reasons = best.findings.map((finding) => reasonText(finding, language));
  return best.successor === null ? reasons : [...reasons, `its successor is ${best.successor}`];
}

const stateOf = ({ ended }: ScoredCandidate): string => (ended === null ? 'active' : `ended ${ended}`);

const NAMES: Readonly<Partial<Record<ShownPart, string>>> = { postalCode: 'postal code', city: 'town' };

/** Parts that both have and that differ; the reasons cover the names. */
const differing = ({ record }: MatchedRecord, entry: IndexEntry | undefined): readonly string[] =>
  SHOWN_PARTS.flatMap((part) => {
    const [own, value] = [record[part], partOf(part, entry)];
    const differs = part !== 'name' && own && value && !agrees(part, own, value);
    return differs ? (NAMES[part] ?? part) : [];
  });

/** `10000003 Havblik Ejendomme ApS, Kystvejen 12, 5000 Odense C (46)`. */
function otherText({ company, name, score, ended }: ScoredCandidate, entry: IndexEntry | undefined): string {
  const town = joined([partOf('postalCode', entry), partOf('city', entry)], ' ');
  const parts = [name, partOf('street', entry), town, ended === null ? null : `ended ${ended}`];
  return `${company} ${joined(parts, ', ')} (${score})`;
}
