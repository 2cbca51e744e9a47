/** Answers to many entries of review as runs: the planned answer or the result for each entry. */
import type { VNode } from 'preact';
import { kindsFor } from '../../connector/review/review-kinds.ts';
import {
  type EntryResult,
  type PlannedAnswer,
  type ReviewRequest,
  readEntries,
} from '../../connector/review/review-task.ts';
import type { Server } from '../../http/server/server.ts';
import { requestAnswers } from '../../operations/connector/run-requests.ts';
import { invalid } from '../../operations/definition/operation.ts';
import { countItems } from '../../runtime/runs/run-items.ts';
import { runAddress } from '../addresses/addresses.ts';
import { inboxAddress, readInboxFilter } from '../addresses/inbox.ts';
import {
  answerHelp,
  answerName,
  answerText,
  daysOf,
  isAnswer,
  mayAnswerAll,
  shownAnswer,
  verbOf,
} from '../inbox/answer-names.ts';
import { fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { messagePage } from '../page/messages.ts';
import { brief, state, table } from '../page/parts.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import type { RouteDeps } from '../routes/routes.ts';
import type { RunFace } from './run-face.ts';

const SHOWN = 100;

/** Adds the action that requests a preview. */
export function addAnswerRequest(app: Server, deps: RouteDeps): void {
  addForm(app, deps, requestAnswers, {
    path: '/runs/answers',
    input(_visit, fields) {
      const { kind, ...narrow } = readInboxFilter((name) => fieldValue(fields, name));
      const name = fieldValue(fields, 'verb');
      if (kind === undefined || !isAnswer(name) || !mayAnswerAll(name, kind)) throw invalid('/verb', 'is not for all');
      const given = Object.entries(narrow).filter(([, value]) => value !== undefined);
      const days = daysOf(name);
      return { verb: verbOf(name), kind, ...(days !== undefined && { days }), ...Object.fromEntries(given) };
    },
    next: (_visit, { id }) => runAddress(id),
    refused: ({ reader }) =>
      messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: reader.text('answers.notForAll') }),
  });
}

export const answersFace = ({ store: { db } }: RouteDeps): RunFace<ReviewRequest> => ({
  columns: ['verb', 'about', 'reason', 'note'],
  title: (reader, { id }) => reader.text('answers.title', { id: String(id) }),
  progress: (reader, { done, total }) =>
    total === null
      ? reader.text('answers.found', { count: done })
      : reader.text('answers.progress', { done, of: total }),
  facts: (visit, { input }) => askedFor(visit, input),
  async details(visit, { id, input }) {
    const { reader } = visit;
    const counts = await countItems(db, id);
    const entries = await readEntries(db, id, SHOWN);
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const count = counts.get('planned') ?? 0;
    const button =
      'rows' in input
        ? reader.text('answers.runFile', { count })
        : reader.text('answers.run', { verb: nameIn(reader, input), count });
    const holds = 'kind' in input && input.kind === 'difference' && input.verb === 'keep' && input.days === undefined;
    const words = [
      reader.text('answers.each'),
      ...(holds ? [reader.text('review.keepHolds', { answer: reader.text('verb.keep-difference') })] : []),
    ];
    return {
      confirmation: count === 0 ? undefined : { button, words: words.join(' ') },
      body: html`${counts.size > 0 && html`<h2>${reader.text('run.result')}</h2> ${countTable(visit, counts)}`}
        ${entries.length > 0 && html`<h2>${reader.text('answers.entries')}</h2> ${entryTable(visit, entries)}`}
        ${total > entries.length && html`<p class="quiet">${reader.text('run.more', { count: entries.length })}</p>`}`,
    };
  },
});

const nameIn = (
  reader: Visit['reader'],
  { verb, kind, days }: Exclude<ReviewRequest, { readonly rows: number }>,
): string => {
  const name = kind && answerName(verb, kind, days);
  return name === undefined ? verb : answerText(reader, name);
};

function askedFor({ reader }: Visit, input: ReviewRequest): VNode {
  if ('rows' in input)
    return html`<dt>${reader.text('answers.answer')}</dt>
      <dd>${reader.text('answers.fromFile', { count: input.rows })}</dd>`;
  const { verb, kind, days, provider, property } = input;
  const name = kind && answerName(verb, kind, days);
  return html`<dt>${reader.text('answers.answer')}</dt>
    <dd>${name === undefined ? verb : html`${answerText(reader, name)} <span class="quiet">${answerHelp(reader, name)}</span>`}</dd>
    <dt>${reader.text('answers.filter')}</dt>
    <dd>
      ${kindsFor(input).map((each) => html`<a href=${inboxAddress({ kind: each, provider, property })}>${reader.text(`kind.${each}`)}</a> `)}
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
const RESULT_SIGNS = {
  given: 'idle',
  planned: 'idle',
  done: 'ok',
  changed: 'warn',
  settled: 'idle',
  impossible: 'warn',
} as const;

const wordOf = ({ reader }: Visit, kind: string): Markup => {
  const known = RESULTS.find((each) => each === kind);
  return known === undefined ? kind : state(RESULT_SIGNS[known], reader.text(`entry.${known}`));
};

const countTable = (visit: Visit, counts: ReadonlyMap<string, number>): VNode =>
  table({
    label: visit.reader.text('run.result'),
    columns: [visit.reader.text('run.result'), visit.reader.text('answers.entries')],
    numeric: [1],
    rows: [...counts].map(([kind, count]) => [wordOf(visit, kind), visit.reader.number(count)]),
  });

/** An entry's subject and reason may name persons: viewers see its id. */
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
