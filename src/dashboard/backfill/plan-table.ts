/** The plan of a backfill: the number of records of each class, and the records themselves. */

import type { VNode } from 'preact';
import { PLAN_PARTS, type PlanPage } from '../../connector/backfill/plan/list-rows.ts';
import type { ScanCounts } from '../../connector/backfill/rows/counts.ts';
import type { PlanRow } from '../../connector/backfill/rows/scan-rows.ts';
import { companyNames } from '../../connector/explain/company-names.ts';
import { VERDICTS } from '../../connector/follow/verdict.ts';
import { agrees } from '../../connector/match/parts.ts';
import { parseEntityId } from '../../protocol/entity-id.ts';
import { readNames } from '../../service/register/watch/snapshots.ts';
import type { Db } from '../../store/store.ts';
import { companyAddress } from '../addresses/addresses.ts';
import { html, type Markup } from '../page/html.ts';
import { state, table, textFilter } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { ALL, backfillAddress, type PlanPlace, planAddress } from './filter.ts';

/** The counts, each with a link to its records. */
export function confidenceTable({ reader }: Visit, name: string, { verdicts }: ScanCounts): VNode {
  const found = VERDICTS.filter((verdict) => verdicts[verdict] !== undefined);
  return table({
    label: reader.text('plan.counts'),
    columns: (['verdict', 'count'] as const).map((column) => reader.text(`plan.${column}`)),
    numeric: [1],
    rows: found.map((verdict) => [
      html`<a href=${planAddress(name, { verdict })}>${reader.text(`verdict.${verdict}`)}</a>`,
      reader.number(verdicts[verdict] ?? 0),
    ]),
  });
}

export function planFilterForm({ reader }: Visit, name: string, { filter, withOutlook }: PlanPlace): VNode {
  return html`<form class="filters" action=${backfillAddress(name)}>
    ${textFilter({ name: 'q', label: reader.text('plan.search'), value: filter.text ?? '' })}
    <div>
      <label for="part">${reader.text('plan.part')}</label>
      <select id="part" name="part">
        <option value=${ALL}>${reader.text('part.all')}</option>
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
        ${VERDICTS.map((each) => html`<option value=${each} selected=${filter.verdict === each}>${reader.text(`verdict.${each}`)}</option>`)}
      </select>
    </div>
    <label class="check"><input type="checkbox" name="outlook" value="yes" checked=${withOutlook} /> <span>${reader.text('plan.withOutlook')}</span></label>
    <button>${reader.text('list.filter')}</button>
    <a href=${planAddress(name, {})}>${reader.text('list.all')}</a>
  </form>`;
}

/** The verdict of a row in words; a verdict of another version is shown unchanged. */
export function verdictText(reader: Reader, { verdict }: Pick<PlanRow, 'verdict'>): string {
  const known = VERDICTS.find((each) => each === verdict);
  return known === undefined ? verdict : reader.text(`verdict.${known}`);
}

/** What will be done, or was done, with a row. */
export function rowState(reader: Reader, { action, state: is }: Pick<PlanRow, 'action' | 'state'>): VNode {
  if (is === 'failed') return state('bad', reader.text('row.failed'));
  if (action !== 'link') return state('idle', reader.text('row.skip'));
  return is === 'done' ? state('ok', reader.text('row.linked')) : state('warn', reader.text('row.link'));
}

export type CompanyNames = ReadonlyMap<string, string>;

/** The names of the companies in these rows that events, the company index or a loaded register know. */
export async function namesOf(db: Db, rows: readonly PlanRow[]): Promise<CompanyNames> {
  const entities = [...new Set(rows.flatMap(({ entity }) => entity ?? []))];
  const names = await companyNames(db, entities);
  const others = entities.filter((entity) => !names.has(entity));
  return new Map([...names, ...(await readNames(db, others))]);
}

export function companyOf({ entity }: PlanRow, names: CompanyNames): Markup {
  const number = entity === null ? undefined : parseEntityId(entity)?.number;
  if (entity === null || number === undefined) return null;
  return html`<a href=${companyAddress(entity)}>${number}</a> ${names.get(entity)}`;
}

/** Whether the record and its company have names so different that a person should check them. */
function isCalledOtherwise({ name, entity }: PlanRow, names: CompanyNames): boolean {
  const company = names.get(entity ?? '');
  return name !== null && company !== undefined && !agrees('name', name, company);
}

/** The records of one page. Marks those whose company has another name. */
export function planTable(
  { reader }: Visit,
  rows: readonly PlanRow[],
  names: CompanyNames,
  {
    outlook,
    actions,
  }: {
    /** What a link would write, by record id. */
    readonly outlook?: ReadonlyMap<string, Markup> | undefined;
    readonly actions?: ((row: PlanRow) => Markup) | undefined;
  } = {},
): VNode {
  const columns = [
    ...(['record', 'name', 'found', 'number', 'verdict'] as const),
    ...(outlook === undefined ? [] : (['outlook'] as const)),
    ...(['action', 'note'] as const),
    ...(actions === undefined ? [] : (['edit'] as const)),
  ];
  return table({
    label: reader.text('plan.title'),
    columns: columns.map((column) => reader.text(`plan.${column}`)),
    marked: rows.flatMap((row, index) => (isCalledOtherwise(row, names) ? [index] : [])),
    rows: rows.map((row) => [
      html`<code>${row.record_id}</code>`,
      row.name !== null &&
        html`<div class="wide">${row.name}</div>
          ${isCalledOtherwise(row, names) && html`<div>${state('warn', reader.text('plan.otherName'))}</div>`}`,
      row.found,
      html`<div class="wide">${companyOf(row, names)}</div>`,
      verdictText(reader, row),
      ...(outlook === undefined ? [] : [outlook.get(row.record_id)]),
      rowState(reader, row),
      row.detail !== null && html`<div class="wide quiet">${said(reader, row.detail)}</div>`,
      ...(actions === undefined ? [] : [actions(row)]),
    ]),
  });
}

/** Says that this page has no records, and whether later ones have. */
export const noRows = ({ reader }: Visit, { next }: PlanPage): VNode =>
  html`<p>${reader.text(next === undefined ? 'plan.noMatch' : 'plan.goOn')}</p>`;
