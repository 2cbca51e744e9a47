/** The names of answers on the pages: for each kind of entry its own words, which say what the answer does. */

import { canTakeBack } from '../../connector/review/given-answers.ts';
import {
  DECISION,
  KINDS_FOR_ALL,
  laneVerbs,
  REVIEW_KINDS,
  type ReviewEntry,
  type ReviewKind,
  type ReviewVerb,
  readReviewId,
  VERBS,
} from '../../connector/review/review-kinds.ts';
import type { Reader } from '../page/reader.ts';
import { TEXTS, type TextKey } from '../texts/texts.ts';

/** What an answer is for; `limit`: work that the safety limit stopped. */
type Answered = ReviewKind | 'limit';

/** A verb and a kind, such as `keep-link`: the value of a button. */
export type AnswerName = TextKey extends infer Key ? (Key extends `verb.${infer Name}` ? Name : never) : never;

export const isAnswer = (name: string): name is AnswerName => `verb.${name}` in TEXTS.en;

/** Undefined if the id is invalid. */
function answeredAs(id: string): Answered | undefined {
  const named = readReviewId(id);
  return named?.kind === 'lane' && laneVerbs(named.parts[1]) === DECISION ? 'limit' : named?.kind;
}

/** The name of an answer to a kind of entry; undefined if the kind does not take it. */
export function answerName(verb: ReviewVerb, kind: Answered, days?: number): AnswerName | undefined {
  const name = `${verb}${days ?? ''}-${kind}`;
  return isAnswer(name) ? name : undefined;
}

function answerNameFor(verb: ReviewVerb, id: string): AnswerName | undefined {
  const kind = answeredAs(id);
  return kind && answerName(verb, kind);
}

/** Each name begins with its verb, and with the days of its hold: `keep90-difference`. */
const PARTS = /^(?<verb>[a-z]+)(?<days>\d*)-(?<kind>[a-z]+)$/u;
const partsOf = (name: AnswerName) => PARTS.exec(name)?.groups ?? {};

export const verbOf = (name: AnswerName): ReviewVerb => partsOf(name)['verb'] as ReviewVerb;

/** The days of an answer's hold; undefined if the answer holds nothing, or holds without an end. */
export const daysOf = (name: AnswerName): number | undefined => Number(partsOf(name)['days']) || undefined;

export const isFor = (name: AnswerName, id: string): boolean => partsOf(name)['kind'] === answeredAs(id);

/** The answers that an entry takes, in the order of its verbs; a hold with an end comes before one without. */
export const answersTo = ({ id, verbs }: Pick<ReviewEntry, 'id' | 'verbs'>): readonly AnswerName[] =>
  verbs.flatMap((verb) => {
    const name = answerNameFor(verb, id);
    if (name === undefined) return [];
    return name === 'keep-difference' ? (['keep90-difference', name] as const) : [name];
  });

/** Whether one answer may be given to all entries of a kind. */
export const mayAnswerAll = (name: AnswerName, kind: ReviewKind | undefined): boolean =>
  kind !== undefined && name.endsWith(`-${kind}`) && KINDS_FOR_ALL[verbOf(name)].some((each) => each === kind);

/** Whether the answer cannot be taken back. */
export function isFinal(name: AnswerName): boolean {
  const known = REVIEW_KINDS.find((each) => each === partsOf(name)['kind']) ?? 'lane';
  return !canTakeBack(verbOf(name), known);
}

export const answerText = (reader: Reader, name: AnswerName): string => reader.text(`verb.${name}`);
export const answerHelp = (reader: Reader, name: AnswerName): string => reader.text(`verbHelp.${name}`);

/** The name of an answer that its entry does not take: the verb of the commands. */
export const shownAnswer = (reader: Reader, verb: ReviewVerb, id: string): string => {
  const name = answerNameFor(verb, id);
  return name === undefined ? verb : answerText(reader, name);
};

/** A text of the commands about an entry, with the names of the page's buttons for its answers. */
export const withButtonNames = (reader: Reader, text: string, id: string): string =>
  text.replaceAll(/(?:cvrsync review )?\b(retry|drop|accept|keep)\b/gu, (all, word: string) => {
    const verb = VERBS.find((each) => each === word);
    const name = verb && answerNameFor(verb, id);
    return name === undefined ? all : `“${answerText(reader, name)}”`;
  });
