/** The page of what was written into the CRMs. */
import type { VNode } from 'preact';
import type { Crm } from '../../connector/crm/crm.ts';
import { companyNames } from '../../connector/explain/company-names.ts';
import type { DecidedLine } from '../../connector/history/history-lines.ts';
import { listWrites, type WritePage } from '../../connector/undo/list-writes.ts';
import { UNDO } from '../../connector/undo/undo-task.ts';
import { isNarrow } from '../../connector/undo/writes.ts';
import type { Server } from '../../http/server/server.ts';
import { FOREVER } from '../../protocol/text/length.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { listRuns } from '../../runtime/runs/runs.ts';
import {
  readSelection,
  SELECTION_FIELDS,
  type SelectionTexts,
  selectionTexts,
  sinceThen,
  writesAddress,
} from '../addresses/writes.ts';
import { companyLink } from '../companies/company-link.ts';
import { briefChange } from '../companies/values/shown-value.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { table, textFilter, timeOf } from '../page/parts.ts';
import { timeFilter } from '../page/typed-time.ts';
import type { Visit } from '../page/visit.ts';
import { addPage, type RouteDeps } from '../routes/routes.ts';
import { recentRuns } from '../routes/run-list.ts';

export interface WritesDeps extends RouteDeps {
  readonly crms: readonly Crm[];
}

const SHOWN = 40;
const RECENT = 5;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How many days undone values may be held; the first is the default. */
const HOLD_DAYS = [30, 7, 90] as const;

export function addWrites(app: Server, deps: WritesDeps): void {
  addPage(app, deps, {
    path: '/writes',
    async show(visit) {
      const texts = selectionTexts(visit.query);
      const read = readSelection(texts, visit.reader);
      return read.ok ? writesPage(deps, visit, texts) : unreadable(deps, visit, texts, read.value);
    },
  });
}

async function writesPage(deps: WritesDeps, visit: Visit, texts: SelectionTexts): Promise<PageBody> {
  const { db } = deps.store;
  const { reader, query } = visit;
  const read = readSelection(texts, visit.reader);
  const selection = read.ok ? read.selection : {};
  const before = /^\d{1,15}$/.test(query('before')) ? Number(query('before')) : undefined;
  const page = await listWrites(db, { ...selection, before }, SHOWN);
  const names = await companyNames(db, [...new Set(page.writes.map(({ entity }) => entity))]);
  const undoes = await listRuns(db, { task: UNDO.queue }, RECENT);
  return {
    title: reader.text('nav.writes'),
    body: html`<p>${reader.text('writes.help')}</p>
      ${recentLinks(visit, texts)} ${page.writes.length > 0 && undoForm(visit, texts, isNarrow(selection))}
      ${filterForm(deps, visit, texts)}
      ${page.writes.length === 0 ? nothing(visit, texts, page) : writesTable(visit, page.writes, names)}
      <p class="actions">
        <a href="/holds">${reader.text('holds.title')}</a>
        ${before !== undefined && html`<a href=${writesAddress(texts)}>${reader.text('list.newest')}</a>`}
        ${page.older !== undefined && html`<a rel="next" href=${writesAddress(texts, { before: String(page.older) })}>${reader.text('list.older')}</a>`}
      </p>
      ${recentRuns(visit, { title: reader.text('undo.recent'), task: UNDO.queue }, undoes, ({ id }) => reader.text('undo.title', { id: String(id) }))}`,
  };
}

const unreadable = (deps: WritesDeps, visit: Visit, texts: SelectionTexts, value: string): PageBody => ({
  status: 422,
  title: visit.reader.text('nav.writes'),
  body: html`<p class="notice bad" role="alert">${visit.reader.text('writes.badTime', { value })}</p>
    ${recentLinks(visit, texts)} ${filterForm(deps, visit, texts)}`,
});

/** Links to the latest writes; they keep the keyboard's focus where the undo is. */
const recentLinks = ({ reader, now }: Visit, texts: SelectionTexts): VNode => html`<p class="actions">
  ${[1, 24].map((hours) => html`<a href=${`${writesAddress(sinceThen(texts, now - hours * HOUR_MS, reader))}#content`}>${reader.text('writes.lastHours', { count: hours })}</a>`)}
</p>`;

function filterForm({ crms }: WritesDeps, { reader }: Visit, texts: SelectionTexts): VNode {
  const narrowing = ['record', 'entity', 'property', 'rule', 'event'] as const;
  const labels = {
    record: 'writes.record',
    entity: 'writes.company',
    property: 'writes.property',
    rule: 'writes.rule',
    event: 'writes.event',
  } as const;
  return html`<form class="filters" action="/writes">
    <div>
      <label for="provider">${reader.text('writes.provider')}</label>
      <select id="provider" name="provider">
        <option value="">${reader.text('writes.anyProvider')}</option>
        ${crms.map(({ name }) => html`<option value=${name} selected=${texts.provider === name}>${name}</option>`)}
      </select>
    </div>
    ${narrowing.map((name) => textFilter({ name, label: reader.text(labels[name]), value: texts[name] }))}
    ${(['since', 'until'] as const).map((name) => timeFilter(reader, { name, label: reader.text(`writes.${name}`), value: texts[name] }))}
    <button>${reader.text('list.filter')}</button>
    <a href="/writes">${reader.text('list.all')}</a>
  </form>`;
}

/** Requests a preview; says what is missing if the list is too wide for one. */
function undoForm({ reader, visitor, formToken }: Visit, texts: SelectionTexts, narrow: boolean): Markup {
  if (!includesRole(visitor.role, 'operator')) return null;
  if (!narrow) return html`<p class="quiet">${reader.text('undo.narrow')}</p>`;
  return html`<form method="post" action="/runs/undo" class="actions">
    ${hidden({ [FORM_TOKEN]: formToken, ...texts })}
    <button aria-describedby="undo-help">${reader.text('undo.ask')}</button>
    <span class="quiet" id="undo-help">${reader.text('undo.askHelp')}</span>
    <label for="hold">${reader.text('undo.hold')}</label>
    <select id="hold" name="hold">
      ${HOLD_DAYS.map((days) => html`<option value=${`${days}d`}>${reader.duration(days * DAY_MS)}</option>`)}
      <option value=${FOREVER}>${reader.text('undo.forever')}</option>
    </select>
  </form>`;
}

function nothing({ reader }: Visit, texts: SelectionTexts, { older }: WritePage): VNode {
  if (older !== undefined) return html`<p>${reader.text('writes.noneHere')}</p>`;
  return html`<p>${reader.text(SELECTION_FIELDS.every((name) => texts[name] === '') ? 'writes.empty' : 'writes.noMatch')}</p>`;
}

function writesTable(
  { reader, visitor }: Visit,
  writes: readonly DecidedLine[],
  names: ReadonlyMap<string, string>,
): VNode {
  const spectator = { ...visitor, reader };
  const columns = ['at', 'record', 'company', 'property', 'values', 'rule', 'event'] as const;
  const blank = html`<span class="quiet">${reader.text('company.blank')}</span>`;
  return table({
    label: reader.text('nav.writes'),
    columns: columns.map((column) => reader.text(`writes.${column}`)),
    rows: writes.map(({ at, provider, record_id: record, entity, field, property, old, now, rule, seq }) => [
      timeOf(reader, at),
      html`${provider} <code>${record}</code>`,
      companyLink(visitor, entity, names),
      html`<code>${property}</code>`,
      html`<div class="value">
        ${briefChange(spectator, field, { old, now }).map((each, at) => html`${at === 1 && ' → '}${each ?? blank}`)}
      </div>`,
      html`<code>${rule}</code>`,
      seq > 0 && html`<a href=${writesAddress({ event: String(seq) })}>${seq}</a>`,
    ]),
  });
}
