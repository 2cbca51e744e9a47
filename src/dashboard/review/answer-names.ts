/** The answers as the pages call them: for each kind of entry in its own words, which say what the answer does to it. */

import { canTakeBack } from '../../connector/review/given-answers.ts';
import {
  DECISION,
  laneVerbs,
  REVIEW_KINDS,
  type ReviewKind,
  type ReviewVerb,
  readReviewId,
  VERBS,
} from '../../connector/review/review-kinds.ts';
import type { Reader } from '../page/reader.ts';
import { TEXTS, type TextKey } from '../texts/texts.ts';

/** What an answer is given to; `limit` is work that the safety limit stopped. */
type Answered = ReviewKind | 'limit';

/** A verb and what it is given to, such as `keep-link`: the value of a button. */
export type AnswerName = TextKey extends infer Key ? (Key extends `verb.${infer Name}` ? Name : never) : never;

/** Whether a text is the value of a button. */
export const isAnswer = (name: string): name is AnswerName => `verb.${name}` in TEXTS.en;

/** What the entry of an id takes an answer as; undefined if it is no id. */
function answeredAs(id: string): Answered | undefined {
  const named = readReviewId(id);
  return named?.kind === 'lane' && laneVerbs(named.parts[1]) === DECISION ? 'limit' : named?.kind;
}

/** The name of an answer to a kind of entry; undefined if no entry of the kind takes it. */
export function answerName(verb: ReviewVerb, kind: Answered): AnswerName | undefined {
  const name = `${verb}-${kind}`;
  return isAnswer(name) ? name : undefined;
}

/** The same for the entry of an id. */
export function answerNameFor(verb: ReviewVerb, id: string): AnswerName | undefined {
  const kind = answeredAs(id);
  return kind && answerName(verb, kind);
}

/** The verb of an answer. */
export const verbOf = (name: AnswerName): ReviewVerb => {
  const [verb] = name.split('-', 1);
  // Each name begins with its verb.
  return verb as ReviewVerb;
};

/** Whether nothing takes an answer back. */
export function isFinal(name: AnswerName): boolean {
  const kind = name.slice(name.indexOf('-') + 1);
  const known = REVIEW_KINDS.find((each) => each === kind) ?? 'lane';
  return !canTakeBack(verbOf(name), known);
}

export const answerText = (reader: Reader, name: AnswerName): string => reader.text(`verb.${name}`);
export const answerHelp = (reader: Reader, name: AnswerName): string => reader.text(`verbHelp.${name}`);

/** What is said to a person of an answer that its entry does not take: the verb as the commands call it. */
export const shownAnswer = (reader: Reader, verb: ReviewVerb, id: string): string => {
  const name = answerNameFor(verb, id);
  return name === undefined ? verb : answerText(reader, name);
};

/** A text of the commands about an entry, in which each answer stands as its button is called. */
export const withButtonNames = (reader: Reader, text: string, id: string): string =>
  text.replaceAll(/(?:cvrsync review )?\b(retry|drop|accept|keep)\b/gu, (all, word: string) => {
    const verb = VERBS.find((each) => each === word);
    const name = verb && answerNameFor(verb, id);
    return name === undefined ? all : `“${answerText(reader, name)}”`;
  });
