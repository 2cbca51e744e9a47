/** One row of a plan: what the scan saw, and the form that decides what to do with it. */

import type { VNode } from 'preact';
import { readOpenBackfill } from '../../connector/backfill/plan/backfill-task.ts';
import {
  editRow,
  isEditable,
  isLinked,
  type RowEditResult,
  rowRevision,
} from '../../connector/backfill/plan/edit-row.ts';
import { ownOf } from '../../connector/backfill/plan/moved-numbers.ts';
import { readRun } from '../../connector/backfill/rows/progress.ts';
import { type PlanRow, rowsByEntity, rowsById } from '../../connector/backfill/rows/scan-rows.ts';
import type { Crm } from '../../connector/crm/crm.ts';
import { readCurrent } from '../../connector/explain/current.ts';
import { readUndecided } from '../../connector/match/undecided.ts';
import type { Server } from '../../http/server/server.ts';
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import { companyEntityId, parseEntityId } from '../../protocol/entity-id.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import type { Db } from '../../store/store.ts';
import { CRM_LIMIT_MS } from '../companies/company-deps.ts';
import { outlook } from '../companies/values/outlook.ts';
import { type Fields, FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, notFoundPage } from '../page/messages.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage } from '../routes/routes.ts';
import {
  type BackfillPageDeps,
  backfillAddress,
  crmOf,
  type PlanPlace,
  placeAddress,
  placeFields,
  readPlace,
} from './filter.ts';
import { type CompanyNames, companyOf, namesOf, rowState, verdictText } from './plan-table.ts';

/** The other records with the same company that the page names. */
const RIVALS = 20;

const rowAddress = (name: string, recordId: string, place: PlanPlace): string =>
  backfillAddress(name, `/row?${new URLSearchParams({ record: recordId, ...placeFields(place) })}`);

/** The actions of a row in the table: link or skip it at once, or open its page. */
export function rowActions(visit: Visit, name: string, row: PlanRow, place: PlanPlace): Markup {
  const { reader, formToken } = visit;
  if (isLinked(row)) return null;
  const { record_id: record, action } = row;
  const number = numberOf(row.entity);
  const choice = action === 'link' ? 'skip' : row.verdict === 'linked' ? undefined : number;
  const words = reader.text(action === 'link' ? 'edit.skipIt' : 'edit.linkIt');
  const fields = { [FORM_TOKEN]: formToken, record, revision: rowRevision(row), choice, ...placeFields(place) };
  return html`<div class="actions">
    ${
      choice !== undefined &&
      html`<form method="post" action=${backfillAddress(name, '/row')}>
        ${hidden(fields)}
        <button aria-label=${`${words} ${record}`}>${words}</button>
      </form>`
    }
    <a class="together" href=${rowAddress(name, record, place)} aria-label=${`${reader.text('edit.choose')} ${record}`}>${reader.text('edit.choose')}</a>
  </div>`;
}

export function addPlanRows(app: Server, deps: BackfillPageDeps): void {
  const { store } = deps;
  addPage(app, deps, {
    path: '/backfill/:name/row',
    async show(visit) {
      const crm = crmOf(deps, visit);
      const [row] = crm === undefined ? [] : await rowsById(store.db, crm.name, [visit.query('record')]);
      return crm && row && rowPage(deps, visit, crm, { row, place: readPlace(visit.query) });
    },
  });
  addAction(app, deps, {
    path: '/backfill/:name/row',
    async run(visit, fields) {
      const crm = crmOf(deps, visit);
      const recordId = fieldValue(fields, 'record');
      const [row] = crm === undefined ? [] : await rowsById(store.db, crm.name, [recordId]);
      if (crm === undefined || row === undefined) return notFoundPage(visit.reader);
      return edit(deps, visit, crm, { row, fields });
    },
  });
}

async function edit(
  deps: BackfillPageDeps,
  visit: Visit,
  crm: Crm,
  { row, fields }: { readonly row: PlanRow; readonly fields: Fields },
): Promise<string | PageBody> {
  const { store } = deps;
  const { reader, visitor, now } = visit;
  const place = readPlace((name) => fieldValue(fields, name));
  const wanted = { choice: fieldValue(fields, 'choice'), typed: fieldValue(fields, 'other') };
  const entity = chosenEntity(wanted);
  if (entity === undefined) {
    const notice = html`<p class="notice bad" role="alert">${reader.text('edit.noNumber', { number: wanted.typed || wanted.choice })}</p>`;
    return rowPage(deps, visit, crm, { row, place, notice, wanted, status: 422 });
  }
  const asked = { provider: crm.name, recordId: row.record_id, revision: fieldValue(fields, 'revision'), entity };
  const result = await store.write((tx) => editRow(tx, { ...asked, actor: visitor.actor }, now));
  if (result === 'done') return placeAddress(crm.name, place);
  if (result === 'missing') return notFoundPage(reader);
  const [current] = await rowsById(store.db, crm.name, [row.record_id]);
  if (current === undefined) return notFoundPage(reader);
  return rowPage(deps, visit, crm, { row: current, place, notice: whyNot(visit, result), wanted, status: 409 });
}

const whyNot = ({ reader }: Visit, result: Exclude<RowEditResult, 'done' | 'missing'>): VNode =>
  html`<p class="notice warn" role="alert">${reader.text(`edit.${result}`)}</p>`;

/** What a person chose, and the number that they typed. */
interface Wanted {
  readonly choice: string;
  readonly typed: string;
}

/** Null: skip the record. Undefined: the choice names no company. */
function chosenEntity({ choice, typed }: Wanted): string | null | undefined {
  if (choice === 'skip') return null;
  if (choice !== 'other') return /^\d{8}$/u.test(choice) ? companyEntityId(choice) : undefined;
  const read = readCvrNumber(typed);
  return read.kind === 'number' && read.valid ? companyEntityId(read.number) : undefined;
}

interface Shown {
  readonly row: PlanRow;
  readonly place: PlanPlace;
  readonly notice?: Markup;
  /** The refused choice. */
  readonly wanted?: Wanted;
  readonly status?: number;
}

async function rowPage(
  deps: BackfillPageDeps,
  visit: Visit,
  crm: Crm,
  { row, place, notice, wanted, status }: Shown,
): Promise<PageBody> {
  const { db } = deps.store;
  const { reader, visitor } = visit;
  const names = await namesOf(db, [row]);
  const run = await readRun(db, crm.name);
  const isOpen = (await readOpenBackfill(db, crm.name)) !== undefined;
  const isOffered = run !== undefined && isEditable(run) && !isOpen && !isLinked(row);
  const mayEdit = isOffered && includesRole(visitor.role, 'operator');
  return {
    ...(status !== undefined && { status }),
    title: reader.text('edit.title', { record: row.record_id }),
    body: html`${notice} ${rowFacts(visit, crm, row, names)}
      ${isLinked(row) && html`<p>${reader.text('edit.linked')}</p>`}
      ${mayEdit && (await editForm(db, visit, crm, { row, place, names, wanted: wanted ?? chosenOf(row) }))}
      ${await linkOutlook(deps, visit, crm, row)} ${await rivalList(db, visit, crm, { row, place })}
      <p><a href=${placeAddress(crm.name, place)}>${reader.text('backfill.toPlan')}</a></p>`,
  };
}

function rowFacts({ reader }: Visit, crm: Crm, row: PlanRow, names: CompanyNames): VNode {
  const facts: readonly (readonly [string, Markup])[] = [
    [reader.text('plan.name'), row.name],
    [reader.text('plan.found'), row.found],
    [reader.text('plan.number'), companyOf(row, names)],
    [reader.text('plan.verdict'), verdictText(reader, row)],
    [reader.text('plan.action'), rowState(reader, row)],
    [reader.text('plan.note'), row.detail !== null && said(reader, row.detail)],
  ];
  return html`<dl class="facts">
    <dt>${reader.text('backfill.connection')}</dt>
    <dd>${crm.name}</dd>
    ${facts.map(([term, value]) => html`<dt>${term}</dt><dd>${value || '–'}</dd>`)}
  </dl>`;
}

const numberOf = (entity: string | null): string | undefined =>
  entity === null ? undefined : parseEntityId(entity)?.number;

const chosenOf = ({ action, entity }: PlanRow): Wanted => ({
  choice: (action === 'link' ? numberOf(entity) : undefined) ?? 'skip',
  typed: '',
});

async function editForm(
  db: Db,
  { reader, formToken }: Visit,
  crm: Crm,
  { row, place, wanted, names }: Required<Pick<Shown, 'row' | 'place' | 'wanted'>> & { readonly names: CompanyNames },
): Promise<VNode> {
  const { name } = crm;
  const found = await readUndecided(db, { provider: name, recordId: row.record_id });
  const offered = new Map<string, string | undefined>();
  for (const entity of [row.entity, ownOf(row)]) {
    const number = numberOf(entity);
    // The record's own name, if nothing else names its company.
    const called = entity === ownOf(row) ? (row.name ?? undefined) : undefined;
    if (number !== undefined) offered.set(number, names.get(entity ?? '') ?? called);
  }
  for (const each of found?.candidates ?? []) offered.set(each.company, each.name);
  const option = (value: string, label: Markup): VNode =>
    html`<div class="choice">
      <input type="radio" id=${`choice-${value}`} name="choice" value=${value} checked=${wanted.choice === value} />
      <label for=${`choice-${value}`}>${label}</label>
    </div>`;
  return html`<form method="post" action=${backfillAddress(name, '/row')} class="narrow form">
    ${hidden({ [FORM_TOKEN]: formToken, record: row.record_id, revision: rowRevision(row), ...placeFields(place) })}
    <fieldset>
      <legend>${reader.text('edit.legend')}</legend>
      ${[...offered].map(([number, company]) => option(number, html`${reader.text('edit.link', { number })} ${company}`))}
      ${option('other', reader.text('edit.other'))}
      <label for="other">${reader.text('edit.number')}</label>
      <input id="other" name="other" inputmode="numeric" autocomplete="off" value=${wanted.typed} />
      ${option('skip', reader.text('edit.skip'))}
    </fieldset>
    <p class="actions"><button class="primary">${reader.text('edit.submit')}</button></p>
  </form>`;
}

/** The record's values next to the company's: what the daemon would write after a link. */
async function linkOutlook(
  deps: BackfillPageDeps,
  { reader, visitor }: Visit,
  crm: Crm,
  row: PlanRow,
): Promise<Markup> {
  const { record_id: recordId, entity } = row;
  if (entity === null || isLinked(row)) return null;
  const current = await readCurrent(deps, crm, { id: recordId, entity }, CRM_LIMIT_MS);
  return html`<h2>${reader.text('edit.outlook')}</h2>
    <p class="quiet">${reader.text('edit.outlookHelp')}</p>
    ${outlook({ ...visitor, reader }, { provider: crm.name, recordId, current }).table}`;
}

/** The other records of the scan with the same company. */
async function rivalList(
  db: Db,
  { reader }: Visit,
  { name }: Crm,
  { row, place }: Pick<Shown, 'row' | 'place'>,
): Promise<Markup> {
  const others = row.entity === null ? [] : await rowsByEntity(db, name, [row.entity]);
  const rivals = others.filter(({ record_id: id }) => id !== row.record_id);
  if (rivals.length === 0) return null;
  return html`<h2>${reader.text('edit.rivals')}</h2>
    <ul class="lines">
      ${rivals
        .slice(0, RIVALS)
        .map(
          (each) =>
            html`<li><a href=${rowAddress(name, each.record_id, place)}>${each.record_id}</a> ${each.name} ${rowState(reader, each)}</li>`,
        )}
    </ul>`;
}
