/** Measures the quality of a match on labelled records. */

import type { Confidence, MatchResult, ScoredCandidate } from '../../src/match/decide/confidence.ts';
import type { RecordText } from '../../src/match/describe/described.ts';
import type { SetRecord } from '../bench/match-sets/set.ts';

const VERDICTS: readonly Confidence[] = ['certain', 'likely', 'ambiguous', 'dissolved', 'foreign', 'person', 'none'];

export interface Quality {
  /** Of the matches with a company: how many name the one that was meant first. */
  readonly precision: Readonly<Partial<Record<Confidence, { readonly right: number; readonly of: number }>>>;
  /** Of the records that have an active company: how many are certain or likely with it first. */
  readonly recall: { readonly right: number; readonly of: number };
  /** How many of each trap got which confidence; `wrong` counts certain and likely ones with another company first. */
  readonly traps: ReadonlyMap<string, Readonly<Partial<Record<Confidence | 'wrong', number>>>>;
  readonly wrong: readonly Wrong[];
}

type TrapCounts = Map<string, Readonly<Partial<Record<Confidence | 'wrong', number>>>>;

function count(traps: TrapCounts, trap: string, what: Confidence | 'wrong'): void {
  const counts = traps.get(trap) ?? {};
  traps.set(trap, { ...counts, [what]: (counts[what] ?? 0) + 1 });
}

export interface Wrong {
  readonly confidence: Confidence;
  readonly trap: string;
  readonly record: RecordText;
  readonly meant: string | null;
  readonly candidates: readonly ScoredCandidate[];
}

interface DecidedRecord extends SetRecord {
  readonly result: MatchResult;
  readonly isRight: boolean;
  /** Certain or likely: what a person would take. */
  readonly isOffered: boolean;
}

/** Compares the results with what was meant; they are in the order of the records. */
export function measureQuality(labelled: readonly SetRecord[], results: readonly MatchResult[]): Quality {
  const judged = labelled.map((one, at): DecidedRecord => {
    const result = results[at] ?? { confidence: 'none', candidates: [] };
    const isRight = one.company !== null && result.candidates[0]?.company === one.company;
    return { ...one, result, isRight, isOffered: result.confidence === 'certain' || result.confidence === 'likely' };
  });
  const traps: TrapCounts = new Map();
  for (const { trap, result, isOffered, isRight } of judged) {
    count(traps, trap, result.confidence);
    if (isOffered && !isRight) count(traps, trap, 'wrong');
  }
  const named = Map.groupBy(
    judged.filter(({ result }) => result.candidates.length > 0),
    ({ result }) => result.confidence,
  );
  const meant = judged.filter(({ company, hasEnded }) => company !== null && !hasEnded);
  return {
    precision: Object.fromEntries(
      [...named].map(([confidence, of]) => [confidence, shareRight(of, ({ isRight }) => isRight)]),
    ),
    recall: shareRight(meant, ({ isRight, isOffered }) => isRight && isOffered),
    traps,
    wrong: judged
      .filter(({ isRight, isOffered }) => isOffered && !isRight)
      .map(({ result, trap, record, company }) => ({ ...result, trap, record, meant: company })),
  };
}

const shareRight = (of: readonly DecidedRecord[], isRight: (one: DecidedRecord) => boolean) => ({
  right: of.filter(isRight).length,
  of: of.length,
});

export const shareOf = (
  { right, of }: { readonly right: number; readonly of: number } = { right: 0, of: 0 },
): number => (of === 0 ? 1 : right / of);

/** The confusion by trap, as lines of a table. */
export const trapTable = ({ traps }: Quality): string =>
  [...traps]
    .map(([trap, counts]) =>
      [trap.padEnd(24), ...[...VERDICTS, 'wrong' as const].map((one) => `${one} ${counts[one] ?? 0}`.padEnd(14))].join(
        '',
      ),
    )
    .join('\n');
