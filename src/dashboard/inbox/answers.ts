/** Answers to entries that somebody chose in the list, each carried out as the command does it. */

import type { VNode } from 'preact';
import type { ReviewEntry } from '../../connector/review/review-kinds.ts';
import type { Server } from '../../http/server/server.ts';
import { ANSWERS, CHANGED, type EntryAnswer } from '../../operations/connector/review.ts';
import { attempt, perform, Refused } from '../../operations/definition/operation.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { addressAfter, listAddress } from '../addresses/inbox.ts';
import { confirmationPage } from '../page/confirmation.ts';
import { fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { messagePage } from '../page/messages.ts';
import { state, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';

import { addAction, type RouteDeps } from '../routes/routes.ts';
import {
  type AnswerName,
  answerHelp,
  answersTo,
  answerText,
  daysOf,
  isAnswer,
  isFinal,
  isFor,
  verbOf,
  withButtonNames,
} from './answer-names.ts';
import { takeBackForm } from './take-back.ts';

/** The entries that one answer may have: more than a page shows. */
const MOST = 200;

/** `other`: the answer does not fit the kind of the entry. */
type Answered = EntryAnswer | Refused | 'other';

/** The field of a chosen entry and its revision. */
export const CHOICE = 'choice';

/** An entry and its revision. */
export const choiceOf = ({ id, revision = '' }: Pick<ReviewEntry, 'id' | 'revision'>): string => `${revision} ${id}`;

/** The box that chooses an entry; nothing for those who may not answer. */
export const choiceBox = (
  { reader, visitor }: Visit,
  { id, revision = '' }: Pick<ReviewEntry, 'id' | 'revision'>,
  isChosen: boolean,
): Markup =>
  includesRole(visitor.role, 'operator') &&
  html`<input type="checkbox" name=${CHOICE} value=${choiceOf({ id, revision })} checked=${isChosen} aria-label=${reader.text('review.choose', { id })} />`;

/** A line for each answer: its button, and what it does. `keys`: the letters that press them in the list. */
export const answerButtons = (
  reader: Reader,
  names: readonly AnswerName[],
  {
    more = '',
    keys = [],
    action,
    isFocused = false,
  }: {
    readonly more?: string;
    readonly keys?: readonly string[];
    readonly action?: string;
    readonly isFocused?: boolean;
  } = {},
): VNode => html`<ul class="lines answers">
  ${names.map(
    (name, index) =>
      html`<li>
        <button name="verb" value=${name} data-key=${keys[index]} formaction=${action} autofocus=${isFocused && index === 0}>
          ${answerText(reader, name)}${more}${keys[index] !== undefined && html` <kbd aria-hidden="true">${keys[index]}</kbd>`}
        </button>
        <span class="quiet">${answerHelp(reader, name)}${isFinal(name) && `. ${reader.text('takeBack.final')}`}</span>
      </li>`,
  )}
</ul>`;

/** The answers that some entries take, in the order of the entries and of the verbs. */
export const answersOf = (entries: readonly Pick<ReviewEntry, 'id' | 'verbs'>[]): readonly AnswerName[] => [
  ...new Set(entries.flatMap(answersTo)),
];

/** Answers that end more than an entry of the list; a page asks first. */
const ASKS_FIRST: ReadonlySet<AnswerName> = new Set(['keep-link', 'drop-link', 'accept-limit', 'drop-mail']);

/** Adds the action. One transaction carries out all answers of a form, and records each in the audit. */
export function addAnswers(app: Server, deps: RouteDeps): void {
  addAction(app, deps, {
    path: '/inbox/answers',
    async run(visit, fields) {
      const name = fieldValue(fields, 'verb');
      const choices = fields.filter(([field]) => field === CHOICE).map(([, value]) => value);
      if (!isAnswer(name) || choices.length === 0 || choices.length > MOST) return noChoice(visit);
      const back = listAddress(fieldValue(fields, 'back'));
      const isOne = fieldValue(fields, 'one') === 'yes';
      const asks = ASKS_FIRST.has(name) && !(isOne && !isFinal(name));
      if (asks && fieldValue(fields, 'sure') !== 'yes') return askFirst(visit, name, choices, back);
      const answers = new Map<string, Answered>();
      for (const choice of choices) {
        const [revision, id] = readChoice(choice);
        answers.set(id, await answer(deps, visit, { name, id, revision }));
      }
      const [[only, its] = ['', 'other'] as const] = answers;
      // After an answer to the shown entry, the next one is shown at once.
      if (isOne && its !== 'other' && !(its instanceof Refused))
        return addressAfter(back, { at: fieldValue(fields, 'next'), done: only });
      return resultPage(visit, name, answers, back);
    },
  });
}

/** The revision and the id. */
const readChoice = (choice: string): readonly [string, string] => [
  choice.slice(0, choice.indexOf(' ')),
  choice.slice(choice.indexOf(' ') + 1),
];

function askFirst(visit: Visit, name: AnswerName, choices: readonly string[], back: string): PageBody {
  const { reader } = visit;
  return confirmationPage(visit, {
    title: answerText(reader, name),
    help: html`<p>${answerText(reader, name)}: ${answerHelp(reader, name)}. ${isFinal(name) && reader.text('takeBack.final')}</p>
      <p>${reader.text('review.sure', { count: choices.length })}</p>
      <ul>
        ${choices.map((choice) => html`<li><code>${readChoice(choice)[1]}</code></li>`)}
      </ul>
      ${choices.map((choice) => html`<input type="hidden" name=${CHOICE} value=${choice} />`)}`,
    action: '/inbox/answers',
    fields: { verb: name, back, sure: 'yes' },
    submit: answerText(reader, name),
    back,
  });
}

async function answer(
  deps: RouteDeps,
  { visitor, now }: Visit,
  { name, id, revision }: { readonly name: AnswerName; readonly id: string; readonly revision: string },
): Promise<Answered> {
  const verb = verbOf(name);
  if (!isFor(name, id)) return 'other';
  const days = daysOf(name);
  const input = { id, revision: revision || undefined, ...(days !== undefined && { days }) };
  return attempt(() =>
    perform(ANSWERS[verb], input, { ...deps, now: () => now }, { actor: visitor.actor, via: 'page' }),
  );
}

const noChoice = ({ reader }: Visit): PageBody =>
  messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: reader.text('review.noChoice') });

function resultPage(visit: Visit, name: AnswerName, answers: ReadonlyMap<string, Answered>, back: string): PageBody {
  const { reader } = visit;
  const done = [...answers].filter(([, each]) => each !== 'other' && !(each instanceof Refused)).map(([id]) => id);
  return {
    title: reader.text('nav.inbox'),
    body: html`<p>${reader.text('review.answered', { verb: answerText(reader, name), count: done.length })}</p>
      ${table({
        label: reader.text('nav.inbox'),
        columns: [reader.text('review.about'), reader.text('review.result')],
        rows: [...answers].map(([id, each]) => [html`<code>${id}</code>`, wordsOf(reader, id, each)]),
      })}
      <p><a href=${back} autofocus>${reader.text('review.back')}</a></p>
      ${!isFinal(name) && takeBackForm(visit, done)}`,
  };
}

function wordsOf(reader: Reader, id: string, answered: Answered): VNode {
  if (answered === 'other') return state('idle', reader.text('review.otherKind'));
  if (!(answered instanceof Refused)) return state('ok', said(reader, answered.note));
  if (answered.kind === 'unknown') return state('idle', reader.text('review.settled'));
  if (answered.code === CHANGED) return state('warn', reader.text('review.changed'));
  return state(
    'warn',
    said(reader, answered.message, (words) => withButtonNames(reader, words, id)),
  );
}
