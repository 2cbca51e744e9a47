/** How probable it is that the first candidate is the company meant: the fitted share of its pattern, and a user's answers. */
import { AXES, type Pattern, patternText } from './pattern.ts';
import { SHARES } from './pattern-table.ts';

/** A user's answers to matches of one pattern. */
export interface AnswerCount {
  readonly accepted: number;
  readonly of: number;
}

/** By the text of the pattern. */
export type Answers = ReadonlyMap<string, AnswerCount>;

/** Fewer answers change nothing. */
const ENOUGH = 10;
/** How many answers the fitted share stands for. */
const FITTED = 20;

/** The share of the table, and where a user gave enough answers their share of it. */
export function probabilityOf(pattern: Pattern, answers: Answers): number {
  const share = fittedShare(pattern);
  const answered = enoughAnswers(pattern, answers);
  return answered === undefined ? share : (share * FITTED + answered.accepted) / (FITTED + answered.of);
}

/** A user's answers to a pattern, if they gave enough. */
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

/** Digits of a share in per mille, and of the shares of one phone and domain with the space behind them. */
const DIGITS = 3;
const GROUP = AXES.rival.length * DIGITS + 1;

/** The share of the labelled records of a pattern whose first candidate was meant. */
function fittedShare({ kind, name, address, phone, domain, rival }: Pattern): number {
  const row = ROWS.get(`${kind} ${name} ${address}`) ?? '';
  const group = indexIn(AXES.phone, phone) * AXES.domain.length + indexIn(AXES.domain, domain);
  const at = group * GROUP + indexIn(AXES.rival, rival) * DIGITS;
  return Number(row.slice(at, at + DIGITS)) / 1_000;
}

const indexIn = (values: readonly string[], value: string): number => values.indexOf(value);
