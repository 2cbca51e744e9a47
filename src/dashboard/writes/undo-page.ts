/** One undo: what it would restore, how far it is, and what became of each property. */

import type { VNode } from 'preact';
import type { Undone } from '../../connector/undo/outcome.ts';
import {
  cancelUndo,
  countResults,
  readResults,
  requestUndo,
  type StoredUndo,
  UNDO,
} from '../../connector/undo/undo-runs.ts';
import type { Server } from '../../http/server/server.ts';
import { readRun, requestPreview } from '../../runtime/runs/runs.ts';
import { companyAddress, UNDOES } from '../addresses/addresses.ts';
import {
  isNarrow,
  readSelection,
  SELECTION_FIELDS,
  selectionTexts,
  textsOf,
  writesAddress,
} from '../addresses/writes.ts';
import { briefProperty, fieldOfProperty } from '../companies/shown-value.ts';
import { fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { messagePage } from '../page/messages.ts';
import { brief, state, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage, type ReviewDeps } from '../routes/routes.ts';
import { addRunSteps, runBody, runIdIn, runSteps, runSummary } from '../routes/run-actions.ts';

const SHOWN = 100;

/** Adds the page, and the actions that ask for a preview, run it, and cancel it. */
export function addUndoes(app: Server, deps: ReviewDeps): void {
  const { store } = deps;
  addPage(app, deps, {
    path: `${UNDOES}/:id`,
    async show(visit) {
      const id = runIdIn(visit.param('id'));
      const undo = id === undefined ? undefined : await readRun(store.db, UNDO, id);
      return undo && undoPage(deps, visit, undo);
    },
  });
  addAction(app, deps, {
    path: UNDOES,
    async run({ reader, visitor, now }, fields) {
      const texts = selectionTexts((name) => fieldValue(fields, name));
      const read = readSelection(texts);
      if (!read.ok || !isNarrow(read.selection)) return tooWide(reader);
      const id = await store.write((tx) =>
        requestPreview(tx, UNDO, { input: read.selection, actor: visitor.actor }, now),
      );
      return `${UNDOES}/${id}`;
    },
  });
  addRunSteps(app, deps, { path: UNDOES, run: requestUndo, cancel: cancelUndo });
}

const tooWide = (reader: Reader): PageBody =>
  messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: reader.text('undo.narrow') });

async function undoPage(deps: ReviewDeps, visit: Visit, undo: StoredUndo): Promise<PageBody> {
  const { reader } = visit;
  const { db } = deps.store;
  const counts = await countResults(db, undo.id);
  const results = await readResults(db, undo.id, SHOWN);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const count = counts.get('restored') ?? 0;
  const ready = { button: reader.text('undo.run', { count }), words: reader.text('undo.holds') };
  return {
    title: reader.text('undo.title', { id: String(undo.id) }),
    body: runBody(
      visit,
      undo,
      html`${summary(visit, undo)} ${runSteps(visit, undo, UNDOES, count === 0 ? undefined : ready)}
        ${counts.size > 0 && html`<h2>${reader.text('run.result')}</h2> ${countTable(visit, undo, counts)}`}
        ${results.length > 0 && html`<h2>${reader.text('undo.count')}</h2> ${resultTable(deps, visit, undo, results)}`}
        ${total > results.length && html`<p class="quiet">${reader.text('run.more', { count: results.length })}</p>`}`,
    ),
  };
}

function summary(visit: Visit, undo: StoredUndo): VNode {
  const { reader } = visit;
  const texts = textsOf(undo.input);
  const chosen = SELECTION_FIELDS.filter((name) => texts[name] !== '');
  const progress = undo.total !== null && reader.text('undo.progress', { done: undo.done, of: undo.total });
  return runSummary(
    visit,
    undo,
    progress,
    html`<dt>${reader.text('undo.selection')}</dt>
      <dd>
        ${chosen.map((name) => html`<code>${name} ${texts[name]}</code> `)}
        <a href=${writesAddress(texts)}>${reader.text('undo.again')}</a>
      </dd>`,
  );
}

/** A result in words; of a preview it says what would be. */
const wordOf = (reader: Reader, { stage }: StoredUndo, kind: Undone['kind']): VNode => {
  if (kind === 'restored') return state('ok', reader.text(stage === 'preview' ? 'undone.would' : 'undone.restored'));
  return state(kind === 'nothing' || kind === 'undone' ? 'idle' : 'warn', reader.text(`undone.${kind}`));
};

function countTable({ reader }: Visit, undo: StoredUndo, counts: ReadonlyMap<Undone['kind'], number>): VNode {
  return table({
    label: reader.text('run.result'),
    columns: [reader.text('run.result'), reader.text('undo.count')],
    numeric: [1],
    rows: [...counts].map(([kind, count]) => [wordOf(reader, undo, kind), reader.number(count)]),
  });
}

function resultTable(
  { crms }: ReviewDeps,
  { reader, visitor }: Visit,
  undo: StoredUndo,
  results: readonly Undone[],
): VNode {
  const spectator = { ...visitor, reader };
  const blank = html`<span class="quiet">${reader.text('company.blank')}</span>`;
  const columns = [
    'writes.record',
    'writes.company',
    'writes.property',
    'writes.values',
    'run.result',
    'undo.reason',
  ] as const;
  return table({
    label: reader.text('run.result'),
    columns: columns.map((column) => reader.text(column)),
    rows: results.map(({ provider, record, entity, property, kind, from, to, reason }) => {
      const field = fieldOfProperty(crms, provider, property);
      const value = (each: Undone['from']): Markup => briefProperty(spectator, field, each) ?? blank;
      return [
        html`<span class="together">${provider} <code>${record}</code></span>`,
        entity !== '' && html`<a href=${companyAddress(entity)}><code>${entity}</code></a>`,
        html`<code>${property}</code>`,
        html`<div class="value">${value(from)}${to !== undefined && html` ${'→'} ${value(to)}`}</div>`,
        wordOf(reader, undo, kind),
        // A reason may quote what the CRM holds.
        visitor.seesPersons && reason !== undefined && said(reader, reason, brief),
      ];
    }),
  });
}
