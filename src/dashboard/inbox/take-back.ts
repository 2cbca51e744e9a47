/** The given answers, and the action that takes some of them back, as `cvrsync review take-back` does. */
import type { VNode } from 'preact';
import { companyNames } from '../../connector/explain/company-names.ts';
import {
  type AnswerPlace,
  findAnswer,
  type GivenAnswer,
  type Replaced,
  readAnswers,
} from '../../connector/review/given-answers.ts';
import { readReviewId } from '../../connector/review/review-kinds.ts';
import type { Server } from '../../http/server/server.ts';
import { type EntryAnswer, takeAnswerBack, undoOf } from '../../operations/connector/review.ts';
import { requestUndo } from '../../operations/connector/run-requests.ts';
import { attempt, perform, performEach, Refused } from '../../operations/definition/operation.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import type { Db } from '../../store/store.ts';
import { companyAddress, runAddress } from '../addresses/addresses.ts';
import { addressAfter, listAddress } from '../addresses/inbox.ts';
import { FORM_TOKEN, fieldValue, fieldValues } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, messagePage } from '../page/messages.ts';
import { noDefaultAnswer, state, table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';

import { addAction, addPage, type RouteDeps } from '../routes/routes.ts';
import { shownAnswer } from './answer-names.ts';

export const ANSWERED = '/inbox/answered';
const BACK = '/inbox/back';
const SHOWN = 50;
/** The most entries of one form. */
const MOST = 200;
const CHOICE = 'choice';

/** The result for one entry; `undoes`: previews of the undo of what the answer wrote. */
type Outcome = (EntryAnswer & { readonly undoes: readonly number[] }) | Refused;

export function addTakeBack(app: Server, deps: RouteDeps): void {
  addPage(app, deps, {
    path: ANSWERED,
    async show(visit) {
      const { reader } = visit;
      const found = await readAnswers(deps.store.db, SHOWN + 1, placeOf(visit.query('after')));
      const [shown, last] = [found.slice(0, SHOWN), found.length > SHOWN ? found[SHOWN - 1] : undefined];
      return {
        title: reader.text('takeBack.answered'),
        body: html`<p>${reader.text('takeBack.help')}</p>
          ${shown.length === 0 ? html`<p>${reader.text('takeBack.none')}</p>` : answeredForm(visit, shown)}
          <p class="actions">
            ${last && html`<a rel="next" href=${`${ANSWERED}?after=${encodeURIComponent(`${last.at} ${last.subject}`)}`}>${reader.text('review.next')}</a>`}
            <a href="/inbox">${reader.text('review.back')}</a>
          </p>`,
      };
    },
  });
  addAction(app, deps, {
    path: BACK,
    async run(visit, fields) {
      const ids = fieldValues(fields, CHOICE);
      if (ids.length === 0 || ids.length > MOST) return noChoice(visit.reader);
      const outcomes = new Map<string, Outcome>();
      for (const id of ids) outcomes.set(id, await takeOneBack(deps, visit, id));
      const [[only, its] = ['', undefined] as const] = outcomes;
      const list = fieldValue(fields, 'back');
      // After one answer: shows its entry again, or the preview of the undo.
      if (list !== '' && its !== undefined && !(its instanceof Refused))
        return its.undoes[0] === undefined ? addressAfter(listAddress(list), { at: only }) : runAddress(its.undoes[0]);
      return outcomePage(visit.reader, outcomes);
    },
  });
}

/** The answer after which a page continues. */
function placeOf(text: string): AnswerPlace | undefined {
  const [, at, subject] = /^(\d{1,15}) (.+)$/u.exec(text) ?? [];
  return at === undefined || subject === undefined ? undefined : { at: Number(at), subject };
}

function answeredForm(visit: Visit, answers: Awaited<ReturnType<typeof readAnswers>>): Markup {
  const { reader, visitor, formToken } = visit;
  const mayAnswer = includesRole(visitor.role, 'operator');
  const columns = [
    ...(mayAnswer ? (['review.choice'] as const) : []),
    'takeBack.at',
    'review.about',
    'answers.answer',
  ] as const;
  const list = table({
    label: reader.text('takeBack.answered'),
    columns: columns.map((column) => reader.text(column)),
    rows: answers.map(({ subject, verb, at }) => [
      ...(mayAnswer
        ? [
            html`<input type="checkbox" name=${CHOICE} value=${subject} aria-label=${reader.text('review.choose', { id: subject })} />`,
          ]
        : []),
      timeOf(reader, at),
      html`<code>${subject}</code>`,
      shownAnswer(reader, verb, subject),
    ]),
  });
  if (!mayAnswer) return list;
  return html`<form method="post" action=${BACK}>
    ${hidden({ [FORM_TOKEN]: formToken })} ${noDefaultAnswer()} ${list}
    <p class="actions"><button>${reader.text('takeBack.chosen')}</button></p>
  </form>`;
}

/** The given answer, and the button that takes it back. */
export async function answeredNotice({ store }: RouteDeps, visit: Visit, list: string): Promise<Markup> {
  const { reader, visitor, formToken, query } = visit;
  const id = query('done');
  if (readReviewId(id) === undefined) return null;
  const given = await findAnswer(store.db, id);
  if (given === undefined)
    return html`<p class="notice ok" role="status">${reader.text('inbox.answered')}: <code>${id}</code></p>`;
  return html`<form method="post" action=${BACK} class="notice ok">
    <p role="status">${shownAnswer(reader, given.verb, id)}: <code>${id}</code>${await companiesOf(store.db, id, given)}</p>
    ${
      includesRole(visitor.role, 'operator') &&
      html`${hidden({ [FORM_TOKEN]: formToken, [CHOICE]: id, back: list })}
        <p class="actions"><button>${reader.text('takeBack.last')}</button></p>`
    }
  </form>`;
}

/** The companies of an answer to a match, each with a link. */
async function companiesOf(db: Db, id: string, { replaced }: GivenAnswer): Promise<Markup> {
  if (readReviewId(id)?.kind !== 'match') return null;
  const { linked, rejected }: Replaced['match'] = JSON.parse(replaced);
  const entities = linked === undefined ? rejected : [linked];
  const names = await companyNames(db, entities);
  return entities.map((entity) => html` <a href=${companyAddress(entity)}>${names.get(entity) ?? entity}</a>`);
}

/** The button that takes these answers back, for the page with their results. */
export const takeBackForm = ({ reader, formToken }: Visit, ids: readonly string[]): Markup =>
  ids.length > 0 &&
  html`<form method="post" action=${BACK}>
    ${hidden({ [FORM_TOKEN]: formToken })}
    ${ids.map((id) => html`<input type="hidden" name=${CHOICE} value=${id} />`)}
    <p class="actions">
      <button>${reader.text('takeBack.these', { count: ids.length })}</button>
      <a href=${ANSWERED}>${reader.text('takeBack.answered')}</a>
    </p>
  </form>`;

async function takeOneBack(deps: RouteDeps, { visitor, now }: Visit, id: string): Promise<Outcome> {
  const ground = { ...deps, now: () => now };
  const by = { actor: visitor.actor, via: 'page' } as const;
  return attempt(async () => {
    const { note, written } = await perform(takeAnswerBack, { id }, ground, by);
    const undoes = await performEach(requestUndo, written.map(undoOf), ground, by);
    return { id, note, undoes: undoes.map((run) => run.id) };
  });
}

const noChoice = (reader: Reader): PageBody =>
  messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: reader.text('takeBack.noChoice') });

function outcomePage(reader: Reader, outcomes: ReadonlyMap<string, Outcome>): PageBody {
  return {
    title: reader.text('takeBack.answered'),
    body: html`${table({
      label: reader.text('takeBack.answered'),
      columns: [reader.text('review.about'), reader.text('review.result')],
      rows: [...outcomes].map(([id, outcome]) => [html`<code>${id}</code>`, wordsOf(reader, id, outcome)]),
    })}
      <p class="actions">
        <a href="/inbox" autofocus>${reader.text('review.back')}</a>
        <a href=${ANSWERED}>${reader.text('takeBack.answered')}</a>
      </p>`,
  };
}

function wordsOf(reader: Reader, id: string, outcome: Outcome): VNode {
  if (outcome instanceof Refused)
    return outcome.kind === 'unknown'
      ? state('idle', reader.text('takeBack.unknown'))
      : state('warn', reader.text('takeBack.changed'));
  const links = outcome.undoes.map((run) => html` <a href=${runAddress(run)}>${reader.text('takeBack.undo')}</a>`);
  const kind = readReviewId(id)?.kind;
  const back = kind !== undefined && html` <a href=${`/inbox?kind=${kind}`}>${reader.text(`kind.${kind}`)}</a>`;
  return html`${state('ok', said(reader, outcome.note))}${links.length > 0 ? links : back}`;
}
