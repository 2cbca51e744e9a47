/** Undoes as runs: what each would restore, or has restored. */
import type { VNode } from 'preact';
import type { Undone } from '../../connector/undo/outcome.ts';
import { UNDO_HOLD_MS } from '../../connector/undo/undo-record.ts';
import { countResults, readResults, type StoredUndo, type UndoRequest } from '../../connector/undo/undo-task.ts';
import type { Server } from '../../http/server/server.ts';
import { requestUndo } from '../../operations/connector/run-requests.ts';
import { FOREVER, readLength } from '../../protocol/text/length.ts';
import { companyAddress, runAddress } from '../addresses/addresses.ts';
import { readSelection, SELECTION_FIELDS, selectionTexts, textsOf, writesAddress } from '../addresses/writes.ts';
import { briefProperty, fieldOfProperty } from '../companies/values/shown-value.ts';
import { fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { messagePage } from '../page/messages.ts';
import { brief, state, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import type { ReviewDeps } from '../routes/routes.ts';
import type { RunFace } from './run-face.ts';

const SHOWN = 100;

/** Adds the action that requests a preview. */
export function addUndoRequest(app: Server, deps: ReviewDeps): void {
  addForm(app, deps, requestUndo, {
    path: '/runs/undo',
    input({ reader }, fields) {
      const texts = selectionTexts((name) => fieldValue(fields, name));
      const read = readSelection(texts, reader);
      if (!read.ok) return {};
      const { since, until, ...others } = read.selection;
      const hold = fieldValue(fields, 'hold') || undefined;
      const given = Object.entries({ ...others, hold }).filter(([, value]) => value !== undefined);
      return {
        ...Object.fromEntries(given),
        ...(since !== undefined && { since: new Date(since).toISOString() }),
        ...(until !== undefined && { until: new Date(until).toISOString() }),
      };
    },
    next: (_visit, { id }) => runAddress(id),
    refused: ({ reader }) =>
      messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: reader.text('undo.narrow') }),
  });
}

export const undoFace = ({ store: { db }, ...deps }: ReviewDeps): RunFace<UndoRequest> => ({
  columns: ['provider', 'record', 'entity', 'property', 'from', 'to', 'reason'],
  title: (reader, { id }) => reader.text('undo.title', { id: String(id) }),
  progress: (reader, { done, total }) =>
    total === null ? undefined : reader.text('undo.progress', { done, of: total }),
  facts({ reader }, { input }) {
    const texts = textsOf(input, reader);
    const chosen = SELECTION_FIELDS.filter((name) => texts[name] !== '');
    return html`<dt>${reader.text('undo.selection')}</dt>
      <dd>
        ${chosen.map((name) => html`<code>${name} ${texts[name]}</code> `)}
        ${input.limit !== undefined && reader.text('undo.limit', { count: input.limit })}
        <a href=${writesAddress(texts)}>${reader.text('undo.again')}</a>
      </dd>`;
  },
  async details(visit, undo) {
    const { reader } = visit;
    const counts = await countResults(db, undo.id);
    const results = await readResults(db, undo.id, SHOWN);
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const count = counts.get('restored') ?? 0;
    const left = undo.stage === 'run' && undo.state === 'done' ? (undo.total ?? 0) - undo.done : 0;
    return {
      confirmation:
        count === 0 ? undefined : { button: reader.text('undo.run', { count }), words: holdWords(reader, undo.input) },
      body: html`${counts.size > 0 && html`<h2>${reader.text('run.result')}</h2> ${countTable(visit, undo, counts)}`}
        ${results.length > 0 && html`<h2>${reader.text('undo.count')}</h2> ${resultTable(deps, visit, undo, results)}`}
        ${left > 0 && html`<p>${reader.text('undo.left', { count: left })}</p>`}
        ${total > results.length && html`<p class="quiet">${reader.text('run.more', { count: results.length })}</p>`}`,
    };
  },
});

const holdWords = (reader: Reader, { hold }: UndoRequest): string =>
  hold === FOREVER
    ? reader.text('undo.holdsForever')
    : reader.text('undo.holds', { time: reader.duration(readLength(hold ?? '') ?? UNDO_HOLD_MS) });

const UNDONE = [
  'restored',
  'nothing',
  'undone',
  'overtaken',
  'edited',
  'unreadable',
  'gone',
  'moved',
  'missing',
  'refused',
  'busy',
  'unconfigured',
] as const satisfies readonly Undone['kind'][];

export const isUndone = (kind: string): kind is Undone['kind'] => UNDONE.some((each) => each === kind);

/** A result in words, for a preview or for what was done. */
export const undoneWord = (reader: Reader, { stage }: Pick<StoredUndo, 'stage'>, kind: Undone['kind']): VNode => {
  if (kind === 'restored') return state('ok', reader.text(stage === 'preview' ? 'undone.would' : 'undone.restored'));
  return state(kind === 'nothing' || kind === 'undone' ? 'idle' : 'warn', reader.text(`undone.${kind}`));
};

function countTable({ reader }: Visit, undo: StoredUndo, counts: ReadonlyMap<Undone['kind'], number>): VNode {
  return table({
    label: reader.text('run.result'),
    columns: [reader.text('run.result'), reader.text('undo.count')],
    numeric: [1],
    rows: [...counts].map(([kind, count]) => [undoneWord(reader, undo, kind), reader.number(count)]),
  });
}

function resultTable(
  { crms }: Pick<ReviewDeps, 'crms'>,
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
    label: reader.text('undo.count'),
    columns: columns.map((column) => reader.text(column)),
    rows: results.map(({ provider, record, entity, property, kind, from, to, reason }) => {
      const field = fieldOfProperty(crms, provider, property);
      const value = (each: Undone['from']): Markup => briefProperty(spectator, field, each) ?? blank;
      return [
        html`<span class="together">${provider} <code>${record}</code></span>`,
        entity !== '' && html`<a href=${companyAddress(entity)}><code>${entity}</code></a>`,
        html`<code>${property}</code>`,
        html`<div class="value">${value(from)}${to !== undefined && html` ${'→'} ${value(to)}`}</div>`,
        undoneWord(reader, undo, kind),
        // A reason may quote values of the CRM.
        visitor.seesPersons && reason !== undefined && said(reader, reason, brief),
      ];
    }),
  });
}
