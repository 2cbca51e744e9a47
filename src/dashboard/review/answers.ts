/** Answers to what needs a person: chosen in the list, carried out together, each as the command does it. */

import type { VNode } from 'preact';
import type { ReviewEntry } from '../../connector/review/review-kinds.ts';
import type { Server } from '../../http/server/server.ts';
import { attempt, perform, Refused } from '../../operations/operation.ts';
import { ANSWERS, CHANGED, type EntryAnswer } from '../../operations/review.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { confirmationPage } from '../page/confirmation.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, messagePage } from '../page/messages.ts';
import { noDefaultAnswer, state, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';

import { addAction, type RouteDeps } from '../routes/routes.ts';
import {
  type AnswerName,
  answerHelp,
  answerNameFor,
  answerText,
  isAnswer,
  isFinal,
  verbOf,
  withButtonNames,
} from './answer-names.ts';
import { takeBackForm } from './take-back.ts';

/** Entries that one answer takes: as many as a page shows, and room for more. */
const MOST = 200;

/** `other`: the entry is of a kind that the answer is not for. */
type Answered = EntryAnswer | Refused | 'other';

/** The field that says which entry is chosen, with what was seen of it. */
const CHOICE = 'choice';

/** The box that chooses an entry; nothing for those who may not answer. */
export const choiceBox = ({ reader, visitor }: Visit, id: string, revision = ''): Markup =>
  includesRole(visitor.role, 'operator') &&
  html`<input type="checkbox" name=${CHOICE} value=${`${revision} ${id}`} aria-label=${reader.text('review.choose', { id })} />`;

/** A list with the answers below it that something in it takes: a line for each, with what it does. */
export function answerForm(visit: Visit, names: readonly AnswerName[], address: string, list: Markup): Markup {
  const { reader, visitor, formToken } = visit;
  if (!includesRole(visitor.role, 'operator')) return list;
  return html`<form method="post" action="/review/answers">
    ${hidden({ [FORM_TOKEN]: formToken, back: address })} ${noDefaultAnswer()} ${list}
    <p class="quiet">${reader.text('review.chosen')}</p>
    ${answerButtons(reader, names)}
  </form>`;
}

/** A line for each answer: its button, and what it does. */
export const answerButtons = (reader: Reader, names: readonly AnswerName[], more = ''): VNode => html`<ul class="lines">
  ${names.map(
    (name) =>
      html`<li class="actions">
        <button name="verb" value=${name}>${answerText(reader, name)}${more}</button>
        <span class="quiet">${answerHelp(reader, name)}${isFinal(name) && `. ${reader.text('takeBack.final')}`}</span>
      </li>`,
  )}
</ul>`;

/** The answers that some entries take, in the order of the entries and of the verbs. */
export const answersOf = (entries: readonly Pick<ReviewEntry, 'id' | 'verbs'>[]): readonly AnswerName[] => [
  ...new Set(entries.flatMap(({ id, verbs }) => verbs.flatMap((verb) => answerNameFor(verb, id) ?? []))),
];

/** Answers that end something for more than the list: a page asks first. */
const ASKS_FIRST: ReadonlySet<AnswerName> = new Set(['keep-link', 'drop-link', 'accept-limit', 'drop-mail']);

/** Adds the action. One transaction carries out all answers of a form, and records each in the audit. */
export function addAnswers(app: Server, deps: RouteDeps): void {
  addAction(app, deps, {
    path: '/review/answers',
    async run(visit, fields) {
      const name = fieldValue(fields, 'verb');
      const choices = fields.filter(([field]) => field === CHOICE).map(([, value]) => value);
      if (!isAnswer(name) || choices.length === 0 || choices.length > MOST) return noChoice(visit);
      const given = fieldValue(fields, 'back');
      const back = /^\/review(?:\?|$)/.test(given) ? given : '/review';
      if (ASKS_FIRST.has(name) && fieldValue(fields, 'sure') !== 'yes') return askFirst(visit, name, choices, back);
      const answers = new Map<string, Answered>();
      for (const choice of choices) {
        const [revision, id] = readChoice(choice);
        answers.set(id, await answer(deps, visit, { name, id, revision }));
      }
      return resultPage(visit, name, answers, back);
    },
  });
}

/** What was seen of an entry, and its id. */
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
    action: '/review/answers',
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
  if (answerNameFor(verb, id) !== name) return 'other';
  const input = { id, revision: revision || undefined };
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
    title: reader.text('nav.review'),
    body: html`<p>${reader.text('review.answered', { verb: answerText(reader, name), count: done.length })}</p>
      ${table({
        label: reader.text('nav.review'),
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
