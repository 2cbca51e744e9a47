/** How good a match is on labelled records. */
import type { RecordText } from '../../src/match/described.ts';
import type { MatchResult, MatchVerdict, ScoredCandidate } from '../../src/match/verdict.ts';
import type { SetRecord } from '../bench/match-sets/set.ts';

const VERDICTS: readonly MatchVerdict[] = ['certain', 'likely', 'ambiguous', 'dissolved', 'foreign', 'person', 'none'];

export interface Quality {
  /** Of the verdicts with a company: how many name the one that was meant first. */
  readonly precision: Readonly<Partial<Record<MatchVerdict, { readonly right: number; readonly of: number }>>>;
  /** Of the records that have an active company: how many are certain or likely with it first. */
  readonly recall: { readonly right: number; readonly of: number };
  /** How many of each trap got which verdict; `wrong` counts certain and likely ones with another company first. */
  readonly traps: ReadonlyMap<string, Readonly<Partial<Record<MatchVerdict | 'wrong', number>>>>;
  readonly wrong: readonly Wrong[];
}

type TrapCounts = Map<string, Readonly<Partial<Record<MatchVerdict | 'wrong', number>>>>;

function count(traps: TrapCounts, trap: string, what: MatchVerdict | 'wrong'): void {
  const counts = traps.get(trap) ?? {};
  traps.set(trap, { ...counts, [what]: (counts[what] ?? 0) + 1 });
}

export interface Wrong {
  readonly verdict: MatchVerdict;
  readonly trap: string;
  readonly record: RecordText;
  readonly meant: string | null;
  readonly candidates: readonly ScoredCandidate[];
}

interface Judged extends SetRecord {
  readonly result: MatchResult;
  readonly isRight: boolean;
  /** Certain or likely: what a person would take. */
  readonly isOffered: boolean;
}

/** Compares the results with what was meant; they are in the order of the records. */
export function measureQuality(labelled: readonly SetRecord[], results: readonly MatchResult[]): Quality {
  const judged = labelled.map((one, at): Judged => {
    const result = results[at] ?? { verdict: 'none', candidates: [] };
    const isRight = one.company !== null && result.candidates[0]?.company === one.company;
    return { ...one, result, isRight, isOffered: result.verdict === 'certain' || result.verdict === 'likely' };
  });
  const traps: TrapCounts = new Map();
  for (const { trap, result, isOffered, isRight } of judged) {
    count(traps, trap, result.verdict);
    if (isOffered && !isRight) count(traps, trap, 'wrong');
  }
  const named = Map.groupBy(
    judged.filter(({ result }) => result.candidates.length > 0),
    ({ result }) => result.verdict,
  );
  const meant = judged.filter(({ company, hasEnded }) => company !== null && !hasEnded);
  return {
    precision: Object.fromEntries(
      [...named].map(([verdict, of]) => [verdict, shareRight(of, ({ isRight }) => isRight)]),
    ),
    recall: shareRight(meant, ({ isRight, isOffered }) => isRight && isOffered),
    traps,
    wrong: judged
      .filter(({ isRight, isOffered }) => isOffered && !isRight)
      .map(({ result, trap, record, company }) => ({ ...result, trap, record, meant: company })),
  };
}

const shareRight = (of: readonly Judged[], isRight: (one: Judged) => boolean) => ({
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
