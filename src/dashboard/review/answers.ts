/** Answers to what needs a person: chosen in the list, carried out together, each as the command does it. */
import type { VNode } from 'preact';
import { type ReviewVerb, VERBS } from '../../connector/explain/attention-kinds.ts';
import { resolveSeen } from '../../connector/explain/resolve-attention.ts';
import type { Server } from '../../http/server/server.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import type { Tx } from '../../store/store.ts';
import { FORM_TOKEN, fieldValue } from '../access/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, messagePage } from '../page/messages.ts';
import { noDefaultAnswer, state, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { addAction, type RouteDeps, type Visit } from '../routes.ts';
import { withButtonNames } from './answer-names.ts';

/** Entries that one answer takes: as many as a page shows, and room for more. */
const MOST = 200;

type Answered = Awaited<ReturnType<typeof resolveSeen>>;

/** The field that says which entry is chosen, with what was seen of it. */
const CHOICE = 'choice';

/** The box that chooses an entry; nothing for those who may not answer. */
export const choiceBox = ({ reader, visitor }: Visit, id: string, sight = ''): Markup =>
  includesRole(visitor.role, 'operator') &&
  html`<input type="checkbox" name=${CHOICE} value=${`${sight} ${id}`} aria-label=${reader.text('review.choose', { id })} />`;

/** A list with a button for each answer that something in it takes. */
export function answerForm(visit: Visit, verbs: ReadonlySet<ReviewVerb>, address: string, list: Markup): Markup {
  const { reader, visitor, formToken } = visit;
  if (!includesRole(visitor.role, 'operator')) return list;
  return html`<form method="post" action="/review/answers">
    ${hidden({ [FORM_TOKEN]: formToken, back: address })} ${noDefaultAnswer()} ${list}
    <p class="actions">
      <span class="quiet">${reader.text('review.chosen')}</span>
      ${VERBS.filter((verb) => verbs.has(verb)).map(
        (verb) =>
          html`<button name="verb" value=${verb} title=${reader.text(`verbHelp.${verb}`)}>${reader.text(`verb.${verb}`)}</button>`,
      )}
    </p>
  </form>`;
}

/** Adds the action. One transaction carries out all answers of a form, and records each in the audit. */
export function addAnswers(app: Server, deps: RouteDeps): void {
  addAction(app, deps, {
    path: '/review/answers',
    async run(visit, fields) {
      const verb = VERBS.find((each) => each === fieldValue(fields, 'verb'));
      const choices = fields.filter(([name]) => name === CHOICE).map(([, value]) => value);
      if (verb === undefined || choices.length === 0 || choices.length > MOST) return noChoice(visit);
      const answers = new Map<string, Answered>();
      await deps.store.write(async (tx) => {
        for (const choice of choices) {
          const [sight = '', id = ''] = [choice.slice(0, choice.indexOf(' ')), choice.slice(choice.indexOf(' ') + 1)];
          answers.set(id, await answer(tx, visit, { verb, id, sight }));
        }
      });
      const given = fieldValue(fields, 'back');
      return resultPage(visit, verb, answers, /^\/review(?:\?|$)/.test(given) ? given : '/review');
    },
  });
}

async function answer(
  tx: Tx,
  { visitor, now }: Visit,
  { verb, id, sight }: { readonly verb: ReviewVerb; readonly id: string; readonly sight: string },
): Promise<Answered> {
  const resolved = await resolveSeen(tx, verb, { id, sight }, now);
  const entry = { actor: visitor.actor, via: 'page', action: `review.${verb}`, subject: id } as const;
  if (resolved.kind === 'done') await recordAudit(tx, { ...entry, result: resolved.note }, now);
  return resolved;
}

const noChoice = ({ reader }: Visit): PageBody =>
  messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: reader.text('review.noChoice') });

function resultPage(
  { reader }: Visit,
  verb: ReviewVerb,
  answers: ReadonlyMap<string, Answered>,
  back: string,
): PageBody {
  const done = [...answers.values()].filter(({ kind }) => kind === 'done').length;
  return {
    title: reader.text('nav.review'),
    body: html`<p>${reader.text('review.answered', { verb: reader.text(`verb.${verb}`), count: done })}</p>
      ${table({
        label: reader.text('nav.review'),
        columns: [reader.text('review.about'), reader.text('review.result')],
        rows: [...answers].map(([id, each]) => [html`<code>${id}</code>`, wordsOf(reader, each)]),
      })}
      <p><a href=${back} autofocus>${reader.text('review.back')}</a></p>`,
  };
}

function wordsOf(reader: Reader, answered: Answered): VNode {
  switch (answered.kind) {
    case 'done':
      return state('ok', html`<span lang="en">${answered.note}</span>`);
    case 'impossible':
      return state('warn', html`<span lang="en">${withButtonNames(reader, answered.reason)}</span>`);
    case 'unknown':
      return state('idle', reader.text('review.settled'));
    case 'changed':
      return state('warn', reader.text('review.changed'));
  }
}
