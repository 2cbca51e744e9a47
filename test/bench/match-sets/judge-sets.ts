/** Judges the scorer on the labelled sets: by set and in all, what is right, and the share right by tenth of the score. */
import type { MatchResult } from '../../../src/match/decide/confidence.ts';
import { measureQuality, type Quality, shareOf, trapTable } from '../../match/measure.ts';
import type { LabelledSet, SetRecord } from './set.ts';

/** A set with what its records were found to mean. */
export interface JudgedSet {
  readonly set: LabelledSet;
  readonly results: readonly MatchResult[];
}

/** The printed scores of one tenth, and how many of their first candidates were meant. */
export interface Tenth {
  readonly from: number;
  readonly of: number;
  readonly score: number;
  readonly right: number;
}

/** By tenth of the score: the mean score and the share right, in percent. */
export function tenthsOf(sets: readonly JudgedSet[]): readonly Tenth[] {
  const seen = sets.flatMap(({ set, results }) =>
    results.flatMap(({ candidates: [first] }, at) =>
      first === undefined ? [] : [{ score: first.score, isRight: first.company === set.records[at]?.company }],
    ),
  );
  const byTenth = Map.groupBy(seen, ({ score }) => Math.min(9, Math.floor(score / 10)));
  return [...byTenth]
    .toSorted(([a], [b]) => a - b)
    .map(([tenth, of]) => ({
      from: tenth * 10,
      of: of.length,
      score: mean(of.map(({ score }) => score)),
      right: mean(of.map(({ isRight }) => (isRight ? 100 : 0))),
    }));
}

const mean = (values: readonly number[]): number =>
  Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 10) / 10;

/** The share of the records of a live company that are certain or likely with it first; every trap weighs the same. */
export function equalRecall(sets: readonly JudgedSet[]): number {
  const shares = sets.flatMap(({ set, results }) => {
    const traps = Map.groupBy(
      set.records.map((record, at) => ({ ...record, result: results[at] })),
      ({ trap }) => trap,
    );
    return [...traps.values()].flatMap((of) => {
      const meant = of.filter(({ company, hasEnded }) => company !== null && !hasEnded);
      return meant.length === 0 ? [] : [meant.filter(isFound).length / meant.length];
    });
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

const isFound = ({ company, result }: SetRecord & { readonly result: MatchResult | undefined }): boolean =>
  (result?.confidence === 'certain' || result?.confidence === 'likely') && result.candidates[0]?.company === company;

/** The lines of a set: what it measures, the tenths, the confusion by trap, and each wrong certain match. */
export function setLines(judged: JudgedSet): readonly string[] {
  const quality = measureQuality(judged.set.records, judged.results);
  return [
    `${judged.set.name}: ${summary(quality)}, recall ${equalRecall([judged]).toFixed(3)}`,
    tenthLine([judged]),
    trapTable(quality),
    ...quality.wrong.filter(({ confidence }) => confidence === 'certain').map((one) => `wrong: ${JSON.stringify(one)}`),
  ];
}

const summary = ({ precision: { certain, likely } }: Quality): string =>
  [
    `certain ${certain?.right ?? 0} of ${certain?.of ?? 0} (${shareOf(certain).toFixed(4)})`,
    `likely ${likely?.right ?? 0} of ${likely?.of ?? 0} (${shareOf(likely).toFixed(3)})`,
  ].join(', ');

/** `90: 98.9 → 99.1 (2450)`: the mean score, the share right, and how many. */
export const tenthLine = (sets: readonly JudgedSet[]): string =>
  tenthsOf(sets)
    .map(({ from, score, right, of }) => `${from}: ${score} → ${right} (${of})`)
    .join('  ');
