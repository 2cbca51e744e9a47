/** The plan of a backfill: how many records got which verdict, and the records themselves. */
import type { VNode } from 'preact';
import { PLAN_PARTS, type PlanFilter, type PlanPage } from '../../connector/backfill/plan/list.ts';
import type { PlanRow, ScanCounts } from '../../connector/backfill/rows/rows.ts';
import { VERDICTS } from '../../connector/backfill/rows/verdict.ts';
import { parseEntityId } from '../../protocol/entity-id.ts';
import { companyAddress } from '../companies/search.ts';
import { html, type Markup } from '../page/html.ts';
import { state, table, textFilter } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import type { Visit } from '../routes.ts';
import { backfillAddress, planAddress } from './filter.ts';

/** The counts, each with the way to its records. */
export function verdictTable({ reader }: Visit, name: string, { verdicts }: ScanCounts): VNode {
  const found = VERDICTS.filter((verdict) => verdicts[verdict] !== undefined);
  return table({
    label: reader.text('plan.counts'),
    columns: (['verdict', 'means', 'count'] as const).map((column) => reader.text(`plan.${column}`)),
    numeric: [2],
    rows: found.map((verdict) => [
      html`<a href=${planAddress(name, { verdict })}>${verdict}</a>`,
      reader.text(`verdict.${verdict}`),
      reader.number(verdicts[verdict] ?? 0),
    ]),
  });
}

/** The form that narrows the plan. */
export function planFilterForm({ reader }: Visit, name: string, filter: PlanFilter): VNode {
  return html`<form class="filters" action=${backfillAddress(name)}>
    ${textFilter({ name: 'q', label: reader.text('plan.search'), value: filter.text ?? '' })}
    <div>
      <label for="part">${reader.text('plan.part')}</label>
      <select id="part" name="part">
        <option value="">${reader.text('part.all')}</option>
        ${PLAN_PARTS.map(
          (each) =>
            html`<option value=${each} selected=${filter.part === each}>${reader.text(`part.${each}`)}</option>`,
        )}
      </select>
    </div>
    <div>
      <label for="verdict">${reader.text('plan.verdict')}</label>
      <select id="verdict" name="verdict">
        <option value="">${reader.text('part.all')}</option>
        ${VERDICTS.map((each) => html`<option value=${each} selected=${filter.verdict === each}>${each}</option>`)}
      </select>
    </div>
    <button>${reader.text('list.filter')}</button>
    <a href=${backfillAddress(name)}>${reader.text('list.all')}</a>
  </form>`;
}

/** What is or was to be done with a row. */
export function rowState(reader: Reader, { action, state: is }: Pick<PlanRow, 'action' | 'state'>): VNode {
  if (is === 'failed') return state('bad', reader.text('row.failed'));
  if (action !== 'link') return state('idle', reader.text('row.skip'));
  return is === 'done' ? state('ok', reader.text('row.linked')) : state('warn', reader.text('row.link'));
}

/** The company that a row stands for. */
export function companyOf({ entity }: PlanRow): Markup {
  const number = entity === null ? undefined : parseEntityId(entity)?.number;
  return entity !== null && number !== undefined && html`<a href=${companyAddress(entity)}>${number}</a>`;
}

/** The records of one page. */
export function planTable({ reader }: Visit, rows: readonly PlanRow[], actions?: (row: PlanRow) => Markup): VNode {
  const seen = ['record', 'name', 'found', 'number', 'verdict', 'action', 'note'] as const;
  const columns = actions === undefined ? seen : ([...seen, 'edit'] as const);
  return table({
    label: reader.text('plan.title'),
    columns: columns.map((column) => reader.text(`plan.${column}`)),
    rows: rows.map((row) => [
      html`<code>${row.record_id}</code>`,
      row.name !== null && html`<div class="wide">${row.name}</div>`,
      row.found,
      companyOf(row),
      row.verdict,
      rowState(reader, row),
      row.detail !== null && html`<div class="wide quiet" lang="en">${row.detail}</div>`,
      ...(actions === undefined ? [] : [actions(row)]),
    ]),
  });
}

/** Says that no record is shown, and whether there are further ones. */
export const noRows = ({ reader }: Visit, { next }: PlanPage): VNode =>
  html`<p>${reader.text(next === undefined ? 'plan.noMatch' : 'plan.goOn')}</p>`;
