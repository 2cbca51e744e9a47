/**
 * The probability that the record means the first candidate: the fitted share of its pattern, adjusted by the user's
 * answers.
 */
import { AXES, type Pattern, patternText } from './pattern.ts';
import { SHARES } from './pattern-table.ts';

/** The user's answers to matches of one pattern. */
export interface AnswerCount {
  readonly accepted: number;
  readonly of: number;
}

/** By the text of the pattern. */
export type Answers = ReadonlyMap<string, AnswerCount>;

/** Fewer answers are ignored. */
const ENOUGH = 10;
/** The number of answers that the fitted share counts as. */
const FITTED = 20;

export function probabilityOf(pattern: Pattern, answers: Answers): number {
  const share = fittedShare(pattern);
  const answered = enoughAnswers(pattern, answers);
  return answered === undefined ? share : (share * FITTED + answered.accepted) / (FITTED + answered.of);
}

/** The user's answers to the pattern, if there are enough. */
export function enoughAnswers(pattern: Pattern, answers: Answers): AnswerCount | undefined {
  const answered = answers.get(patternText(pattern));
  return answered !== undefined && answered.of >= ENOUGH ? answered : undefined;
}

/** By kind, name and address. */
const ROWS: ReadonlyMap<string, string> = new Map(
  SHARES.trim()
    .split('\n')
    .map((line) => {
      const [key = '', row = ''] = line.split(': ');
      return [key, row];
    }),
);

/** The digits of a share, and the width of a group with the space after it. */
const DIGITS = 3;
const GROUP = AXES.rival.length * DIGITS + 1;

/** The share of labelled records with this pattern that meant the first candidate. */
function fittedShare({ kind, name, address, phone, domain, rival }: Pattern): number {
  const row = ROWS.get(`${kind} ${name} ${address}`) ?? '';
  const group = indexIn(AXES.phone, phone) * AXES.domain.length + indexIn(AXES.domain, domain);
  const at = group * GROUP + indexIn(AXES.rival, rival) * DIGITS;
  return Number(row.slice(at, at + DIGITS)) / 1_000;
}

const indexIn = (values: readonly string[], value: string): number => values.indexOf(value);
