/** One undo: what it would restore, how far it is, and what became of each property. */
import type { VNode } from 'preact';
import type { Undone } from '../../connector/undo/outcome.ts';
import {
  cancelUndo,
  countResults,
  readResults,
  readUndo,
  requestPreview,
  requestUndo,
  type StoredUndo,
} from '../../connector/undo/runs.ts';
import type { Server } from '../../http/server/server.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { FORM_TOKEN, fieldValue } from '../access/fields.ts';
import { companyAddress } from '../companies/search.ts';
import { fieldOfProperty, shownProperty } from '../companies/shown-value.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, messagePage } from '../page/messages.ts';
import { state, table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import type { ReviewDeps } from '../review/page.ts';
import { addAction, addPage, type RouteDeps, type Visit } from '../routes.ts';
import { isNarrow, readSelection, SELECTION_FIELDS, selectionTexts, textsOf, writesAddress } from './selection.ts';

const SHOWN = 200;

const idIn = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);
const addressOf = (id: number): string => `/undoes/${id}`;

/** Adds the page, and the actions that ask for a preview, run it, and cancel it. */
export function addUndoes(app: Server, deps: ReviewDeps): void {
  const { store } = deps;
  addPage(app, deps, {
    path: '/undoes/:id',
    async show(visit) {
      const id = idIn(visit.param('id'));
      const undo = id === undefined ? undefined : await readUndo(store.db, id);
      return undo && undoPage(deps, visit, undo);
    },
  });
  addAction(app, deps, {
    path: '/undoes',
    async run({ reader, visitor, now }, fields) {
      const texts = selectionTexts((name) => fieldValue(fields, name));
      const read = readSelection(texts);
      if (!read.ok || !isNarrow(read.selection)) return tooWide(reader);
      const id = await store.write((tx) => requestPreview(tx, read.selection, visitor.actor, now));
      return addressOf(id);
    },
  });
  addStep(app, deps, 'run', requestUndo);
  addStep(app, deps, 'cancel', cancelUndo);
}

/** An action on one undo. Asked for again it changes nothing: the page shows how things are. */
function addStep(app: Server, deps: RouteDeps, name: 'run' | 'cancel', step: typeof requestUndo): void {
  addAction(app, deps, {
    path: `/undoes/:id/${name}`,
    async run({ visitor, param, now }) {
      const id = idIn(param('id')) ?? 0;
      await deps.store.write((tx) => step(tx, id, visitor.actor, now));
      return addressOf(id);
    },
  });
}

const tooWide = (reader: Reader): PageBody =>
  messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: reader.text('undo.narrow') });

const SIGNS = { waiting: 'idle', running: 'idle', done: 'ok', cancelled: 'warn', failed: 'bad' } as const;

/** The state of an undo in words. */
export const undoState = (reader: Reader, undo: Pick<StoredUndo, 'stage' | 'state'>): VNode =>
  state(SIGNS[undo.state], reader.text(undo.stage === 'preview' ? `preview.${undo.state}` : `undoing.${undo.state}`));

async function undoPage(deps: ReviewDeps, visit: Visit, undo: StoredUndo): Promise<PageBody> {
  const { reader } = visit;
  const { db } = deps.store;
  const counts = await countResults(db, undo.id);
  const results = await readResults(db, undo.id, SHOWN);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const isOpen = undo.state === 'waiting' || undo.state === 'running';
  return {
    title: reader.text('undo.title', { id: String(undo.id) }),
    body: html`<div id="undo" data-live=${isOpen ? 'soon' : undefined}>
      ${summary(visit, undo)} ${steps(visit, undo, counts.get('restored') ?? 0, isOpen)}
      ${counts.size > 0 && html`<h2>${reader.text('undo.result')}</h2> ${countTable(visit, undo, counts)}`}
      ${results.length > 0 && html`<h2>${reader.text('undo.count')}</h2> ${resultTable(deps, visit, undo, results)}`}
      ${total > results.length && html`<p class="quiet">${reader.text('undo.more', { count: results.length })}</p>`}
    </div>`,
  };
}

function summary({ reader }: Visit, undo: StoredUndo): VNode {
  const texts = textsOf(undo.selection);
  const chosen = SELECTION_FIELDS.filter((name) => texts[name] !== '');
  return html`<dl class="facts">
    <dt>${reader.text('undo.state')}</dt>
    <dd>
      ${undoState(reader, undo)}
      ${undo.recordCount !== null && html` <span class="quiet">${reader.text('undo.progress', { done: undo.records, of: undo.recordCount })}</span>`}
      ${undo.error !== null && html`<div lang="en">${undo.error}</div>`}
    </dd>
    <dt>${reader.text('undo.selection')}</dt>
    <dd>
      ${chosen.map((name) => html`<code>${name} ${texts[name]}</code> `)}
      <a href=${writesAddress(texts)}>${reader.text('undo.again')}</a>
    </dd>
    <dt>${reader.text('undo.actor')}</dt>
    <dd>${undo.actor.name}, ${timeOf(reader, undo.createdAt)}</dd>
  </dl>`;
}

/** What may be done with it now. */
function steps({ reader, visitor, formToken }: Visit, undo: StoredUndo, restorable: number, isOpen: boolean): Markup {
  const mayAct = includesRole(visitor.role, 'operator');
  const form = (name: 'run' | 'cancel', label: string, kind?: 'primary'): Markup =>
    mayAct &&
    html`<form method="post" action=${`${addressOf(undo.id)}/${name}`}>
      ${hidden({ [FORM_TOKEN]: formToken })}
      <button class=${kind}>${label}</button>
    </form>`;
  if (isOpen)
    return html`<div class="actions">
      <a href=${addressOf(undo.id)}>${reader.text('undo.reload')}</a> ${form('cancel', reader.text('undo.cancel'))}
    </div>`;
  if (undo.stage !== 'preview' || undo.state !== 'done') return null;
  if (restorable === 0) return html`<p>${reader.text('undo.nothing')}</p>`;
  return html`<p class="quiet">${reader.text('undo.holds')}</p>
    <div class="actions">${form('run', reader.text('undo.run', { count: restorable }), 'primary')}</div>`;
}

/** A result in words; of a preview it says what would be. */
const wordOf = (reader: Reader, { stage }: StoredUndo, kind: Undone['kind']): VNode => {
  if (kind === 'restored') return state('ok', reader.text(stage === 'preview' ? 'undone.would' : 'undone.restored'));
  return state(kind === 'nothing' || kind === 'undone' ? 'idle' : 'warn', reader.text(`undone.${kind}`));
};

function countTable({ reader }: Visit, undo: StoredUndo, counts: ReadonlyMap<Undone['kind'], number>): VNode {
  return table({
    label: reader.text('undo.result'),
    columns: [reader.text('undo.result'), reader.text('undo.count')],
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
  const spectator = { reader, role: visitor.role };
  const blank = html`<span class="quiet">${reader.text('company.blank')}</span>`;
  const columns = [
    'writes.record',
    'writes.company',
    'writes.property',
    'writes.values',
    'undo.result',
    'undo.reason',
  ] as const;
  return table({
    label: reader.text('undo.result'),
    columns: columns.map((column) => reader.text(column)),
    rows: results.map(({ provider, record, entity, property, kind, from, to, reason }) => {
      const field = fieldOfProperty(crms, provider, property);
      const value = (each: Undone['from']): Markup => shownProperty(spectator, field, each) ?? blank;
      return [
        html`${provider} <code>${record}</code>`,
        entity !== '' && html`<a href=${companyAddress(entity)}><code>${entity}</code></a>`,
        html`<code>${property}</code>`,
        to === undefined ? value(from) : html`${value(from)} → ${value(to)}`,
        wordOf(reader, undo, kind),
        // A reason may quote what the CRM holds.
        visitor.role === 'viewer' ? null : html`<span lang="en">${reason}</span>`,
      ];
    }),
  });
}
