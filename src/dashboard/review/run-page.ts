/** One answer to all that a filter finds: what it would be given to, how far it is, and what became of each entry. */

import type { VNode } from 'preact';
import { KINDS_FOR_ALL } from '../../connector/review/review-kinds.ts';
import {
  cancelAnswers,
  type EntryResult,
  type PlannedAnswer,
  REVIEW,
  type ReviewRequest,
  readEntries,
  requestAnswers,
  type StoredReview,
} from '../../connector/review/review-runs.ts';
import type { Server } from '../../http/server/server.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { countItems, listRuns, readRun, requestPreview } from '../../runtime/runs/runs.ts';
import type { Db } from '../../store/store.ts';
import { type ReviewFilter, readReviewFilter, reviewAddress } from '../addresses/review.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, messagePage } from '../page/messages.ts';
import { brief, state, table } from '../page/parts.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage, type RouteDeps } from '../routes/routes.ts';
import { addRunSteps, runBody, runIdIn, runList, runSteps, runSummary } from '../routes/run-actions.ts';
import { type AnswerName, answerHelp, answerName, answerText, isAnswer, shownAnswer, verbOf } from './answer-names.ts';
import { answerButtons } from './answers.ts';

const PATH = '/review/runs';
const SHOWN = 100;
const RECENT = 5;

/** Adds the page, and the actions that ask for a plan, carry it out, and cancel it. */
export function addReviewRuns(app: Server, deps: RouteDeps): void {
  const { store } = deps;
  addPage(app, deps, {
    path: `${PATH}/:id`,
    async show(visit) {
      const id = runIdIn(visit.param('id'));
      const run = id === undefined ? undefined : await readRun(store.db, REVIEW, id);
      return run && runPage(store.db, visit, run);
    },
  });
  addAction(app, deps, {
    path: PATH,
    async run({ reader, visitor, now }, fields) {
      const { kind, provider, property } = readReviewFilter((name) => fieldValue(fields, name));
      const name = fieldValue(fields, 'verb');
      if (kind === undefined || !isAnswer(name) || !mayAnswerAll(name, kind)) return notForAll(reader);
      const verb = verbOf(name);
      const input = { verb, kind, provider, property };
      const id = await store.write((tx) => requestPreview(tx, REVIEW, { input, actor: visitor.actor }, now));
      return `${PATH}/${id}`;
    },
  });
  addRunSteps(app, deps, { path: PATH, run: requestAnswers, cancel: cancelAnswers });
}

const mayAnswerAll = (name: AnswerName, kind: ReviewFilter['kind']): boolean =>
  kind !== undefined &&
  answerName(verbOf(name), kind) === name &&
  KINDS_FOR_ALL[verbOf(name)].some((each) => each === kind);

const notForAll = (reader: Visit['reader']): PageBody =>
  messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: reader.text('answers.notForAll') });

/** A button for each answer that may be given to all that the filter finds, and that something on the page takes. */
export function answerAllForm(
  { reader, visitor, formToken }: Visit,
  filter: ReviewFilter,
  taken: readonly AnswerName[],
): Markup {
  const names = taken.filter((name) => mayAnswerAll(name, filter.kind));
  if (!includesRole(visitor.role, 'operator') || names.length === 0) return null;
  return html`<form method="post" action=${PATH}>
    ${hidden({ [FORM_TOKEN]: formToken, ...filter })}
    <p class="quiet">${reader.text('answers.all')} ${reader.text('answers.help')}</p>
    ${answerButtons(reader, names, ' …')}
  </form>`;
}

/** The latest answers to all that a filter found. */
export const recentRuns = async (db: Db, visit: Visit): Promise<Markup> =>
  runList(
    visit,
    {
      title: visit.reader.text('answers.recent'),
      path: PATH,
      name: (id) => visit.reader.text('answers.title', { id }),
    },
    await listRuns(db, REVIEW, RECENT),
  );

async function runPage(db: Db, visit: Visit, run: StoredReview): Promise<PageBody> {
  const { reader } = visit;
  const counts = await countItems(db, run.id);
  const entries = await readEntries(db, run.id, SHOWN);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const count = counts.get('planned') ?? 0;
  const { input } = run;
  const button =
    'rows' in input
      ? reader.text('answers.runFile', { count })
      : reader.text('answers.run', { verb: nameIn(reader, input), count });
  const holds = 'kind' in input && input.kind === 'difference' && input.verb === 'keep';
  const words = [
    reader.text('answers.each'),
    ...(holds ? [reader.text('review.keepHolds', { answer: reader.text('verb.keep-difference') })] : []),
  ];
  const ready = { button, words: words.join(' ') };
  return {
    title: reader.text('answers.title', { id: String(run.id) }),
    body: runBody(
      visit,
      run,
      html`${summary(visit, run)} ${runSteps(visit, run, PATH, count === 0 ? undefined : ready)}
        ${counts.size > 0 && html`<h2>${reader.text('run.result')}</h2> ${countTable(visit, counts)}`}
        ${entries.length > 0 && html`<h2>${reader.text('answers.entries')}</h2> ${entryTable(visit, entries)}`}
        ${total > entries.length && html`<p class="quiet">${reader.text('run.more', { count: entries.length })}</p>`}`,
    ),
  };
}

const nameIn = (reader: Visit['reader'], { verb, kind }: Exclude<ReviewRequest, { readonly rows: number }>): string => {
  const name = answerName(verb, kind);
  return name === undefined ? verb : answerText(reader, name);
};

function summary(visit: Visit, run: StoredReview): VNode {
  const { reader } = visit;
  const progress =
    run.total === null
      ? reader.text('answers.found', { count: run.done })
      : reader.text('answers.progress', { done: run.done, of: run.total });
  return runSummary(visit, run, progress, askedFor(visit, run.input));
}

function askedFor({ reader }: Visit, input: ReviewRequest): VNode {
  if ('rows' in input)
    return html`<dt>${reader.text('answers.answer')}</dt>
      <dd>${reader.text('answers.fromFile', { count: input.rows })}</dd>`;
  const { verb, kind, provider, property } = input;
  const name = answerName(verb, kind);
  return html`<dt>${reader.text('answers.answer')}</dt>
    <dd>${name === undefined ? verb : html`${answerText(reader, name)} <span class="quiet">${answerHelp(reader, name)}</span>`}</dd>
    <dt>${reader.text('answers.filter')}</dt>
    <dd>
      <a href=${reviewAddress({ kind, provider, property })}>${reader.text(`kind.${kind}`)}</a>
      ${[provider, property].map((each) => each !== undefined && html` <code>${each}</code>`)}
    </dd>`;
}

const RESULTS = [
  'given',
  'planned',
  'done',
  'changed',
  'settled',
  'impossible',
] as const satisfies readonly EntryResult[];
const EVIDENCE = {
  given: 'idle',
  planned: 'idle',
  done: 'ok',
  changed: 'warn',
  settled: 'idle',
  impossible: 'warn',
} as const;

const wordOf = ({ reader }: Visit, kind: string): Markup => {
  const known = RESULTS.find((each) => each === kind);
  return known === undefined ? kind : state(EVIDENCE[known], reader.text(`entry.${known}`));
};

const countTable = (visit: Visit, counts: ReadonlyMap<string, number>): VNode =>
  table({
    label: visit.reader.text('run.result'),
    columns: [visit.reader.text('run.result'), visit.reader.text('answers.entries')],
    numeric: [1],
    rows: [...counts].map(([kind, count]) => [wordOf(visit, kind), visit.reader.number(count)]),
  });

/** What an entry is about may name persons, and so may the reason: viewers see its id. */
function entryTable(visit: Visit, entries: readonly PlannedAnswer[]): VNode {
  const { reader, visitor } = visit;
  const isShown = visitor.seesPersons;
  const columns = ['about', 'reason', 'result'] as const;
  return table({
    label: reader.text('answers.entries'),
    columns: columns.map((column) => reader.text(`review.${column}`)),
    rows: entries.map(({ id, about, reason, result, note, verb }) => [
      html`<div class="value">${isShown && brief(about)}<div class="quiet"><code>${id}</code></div></div>`,
      isShown && html`<div class="value">${said(reader, reason, brief)}</div>`,
      html`${verb !== undefined && html`<div>${shownAnswer(reader, verb, id)}</div>`}
      ${wordOf(visit, result)} ${note !== undefined && html`<div class="quiet">${said(reader, note)}</div>`}`,
    ]),
  });
}
