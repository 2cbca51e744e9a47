/** The pages of backfills: the state of each connection, and the plan of one. */
import { Readable } from 'node:stream';
import type { VNode } from 'preact';
import { BACKFILL, type BackfillJob, readOpenBackfill } from '../../connector/backfill/plan/backfill-task.ts';
import { isEditable } from '../../connector/backfill/plan/edit-row.ts';
import { listRows, type PlanPage } from '../../connector/backfill/plan/list-rows.ts';
import { planText } from '../../connector/backfill/plan/write-plan.ts';
import { readCounts, type ScanCounts } from '../../connector/backfill/rows/counts.ts';
import { type BackfillProgress, isScanning, type Phase, readRun } from '../../connector/backfill/rows/progress.ts';

import type { Crm } from '../../connector/crm/crm.ts';
import type { Server } from '../../http/server/server.ts';
import { readConnections } from '../../operations/installation/status/connections.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { isRunOf, listRuns } from '../../runtime/runs/runs.ts';
import type { Db } from '../../store/store.ts';
import { runAddress, SETTINGS } from '../addresses/addresses.ts';
import { connectionState } from '../connections/table.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { state, table, timeOf } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import { addPage } from '../routes/routes.ts';
import { recentRuns } from '../routes/run-list.ts';
import {
  type BackfillPageDeps,
  backfillAddress,
  crmOf,
  isChosen,
  type PlanPlace,
  placeAddress,
  planAddress,
  readPlace,
} from './filter.ts';
import { readOutlook } from './outlook-column.ts';
import { confidenceTable, namesOf, noRows, planFilterForm, planTable } from './plan-table.ts';
import { addBackfillRequests, applyForm, scanForm } from './requests.ts';
import { addPlanRows, rowActions } from './row-page.ts';
import { addSkipAll, skipAllLink } from './skip-all.ts';
import { addPlanUpload } from './upload.ts';

const SHOWN = 30;
const RECENT = 5;
/** The newest runs, of all connections together. */
const LOOKED_THROUGH = 50;

export function addBackfill(app: Server, deps: BackfillPageDeps): void {
  const { store } = deps;
  addBackfillRequests(app, deps);
  addPlanRows(app, deps);
  addPlanUpload(app, deps);
  addSkipAll(app, deps);
  addPage(app, deps, { path: '/backfill', show: (visit) => listPage(deps, visit) });
  addPage(app, deps, {
    path: '/backfill/:name',
    async show(visit) {
      const crm = crmOf(deps, visit);
      return crm && connectionPage(deps, visit, crm);
    },
  });
  addPage(app, deps, {
    path: '/backfill/:name/plan.csv',
    async show(visit) {
      const crm = crmOf(deps, visit);
      const run = crm && (await readRun(store.db, crm.name));
      if (crm === undefined || run === undefined || isScanning(run.phase)) return undefined;
      return { file: 'plan.csv', content: Readable.from(planText(store.db, crm.name)) };
    },
  });
}

async function listPage({ store, crms }: BackfillPageDeps, { reader }: Visit): Promise<PageBody> {
  const runs = await Promise.all(
    crms.map(async ({ name }) => {
      const run = await readRun(store.db, name);
      return { name, run, counts: run?.phase === 'planned' ? await readCounts(store.db, name) : undefined };
    }),
  );
  return {
    title: reader.text('nav.backfill'),
    body: html`<p>${reader.text('backfill.help')}</p>
      ${table({
        label: reader.text('nav.backfill'),
        columns: (['connection', 'state', 'scanned', 'began'] as const).map((column) =>
          reader.text(`backfill.${column}`),
        ),
        numeric: [2],
        rows: runs.map(({ name, run, counts }) => [
          html`<a href=${`${backfillAddress(name)}#content`}>${name}</a>`,
          phaseState(reader, run, counts),
          run && reader.number(run.scanned),
          run && timeOf(reader, run.startedAt),
        ]),
      })}`,
  };
}

const PHASE_SIGNS = {
  clear: 'idle',
  scan: 'idle',
  decide: 'idle',
  planned: 'warn',
  import: 'idle',
  apply: 'idle',
  confirm: 'idle',
  done: 'ok',
} as const satisfies Readonly<Record<Phase, string>>;

/** The state of a backfill in words. The counts of its plan tell a plan that links nothing from one that waits. */
function phaseState(reader: Visit['reader'], run: BackfillProgress | undefined, counts?: ScanCounts): VNode {
  if (run === undefined) return state('idle', reader.text('backfill.none'));
  if (run.phase === 'planned' && counts?.toLink === 0) return state('idle', reader.text('phase.nothing'));
  return state(PHASE_SIGNS[run.phase], reader.text(`phase.${run.phase}`));
}

async function connectionPage(deps: BackfillPageDeps, visit: Visit, crm: Crm): Promise<PageBody> {
  const { reader } = visit;
  const { db } = deps.store;
  const run = await readRun(db, crm.name);
  const open = await readOpenBackfill(db, crm.name);
  const mayEdit = open === undefined && run !== undefined && isEditable(run);
  const counts = run !== undefined && !isScanning(run.phase) ? await readCounts(db, crm.name) : undefined;
  return {
    title: reader.text('backfill.title', { name: crm.name }),
    body: html`${await standing(deps, visit, crm, { run, counts })}
      ${open === undefined && run && counts && counts.toLink > 0 && applyForm(visit, crm, { run, toLink: counts.toLink })}
      ${open ? runLink(visit, open) : crm.match !== undefined && scanForm(visit, crm, run)}
      ${await recentBackfills(db, visit, crm)}
      ${counts && (await planSection(deps, visit, crm, { counts, mayEdit: mayEdit && includesRole(visit.visitor.role, 'operator') }))}`,
  };
}

const runLink = ({ reader }: Visit, { id }: BackfillJob): VNode =>
  html`<p class="notice"><a href=${runAddress(id)}>${reader.text('backfill.open')}</a></p>`;

async function recentBackfills(db: Db, visit: Visit, { name: connection }: Crm): Promise<Markup> {
  const { reader } = visit;
  const runs = (await listRuns(db, { task: BACKFILL.queue }, LOOKED_THROUGH))
    .filter((run) => isRunOf(BACKFILL, run))
    .filter(({ input }) => input.provider === connection);
  return recentRuns(
    visit,
    { title: reader.text('backfill.recent'), task: BACKFILL.queue },
    runs.slice(0, RECENT),
    ({ id, input }) => reader.text(`backfill.${input.kind}Title`, { id: String(id), name: connection }),
  );
}

async function standing(
  { store }: BackfillPageDeps,
  visit: Visit,
  crm: Crm,
  { run, counts }: { readonly run: BackfillProgress | undefined; readonly counts: ScanCounts | undefined },
): Promise<Markup> {
  const { reader, now } = visit;
  const [row] = await readConnections(store.db, [crm], now);
  return html`<dl class="facts">
      <dt>${reader.text('backfill.state')}</dt>
      <dd>${phaseState(reader, run, counts)}</dd>
      ${
        run &&
        html`<dt>${reader.text('backfill.scanned')}</dt>
          <dd>${reader.number(run.scanned)}</dd>
          <dt>${reader.text('backfill.began')}</dt>
          <dd>${timeOf(reader, run.startedAt)}</dd>`
      }
      <dt>${reader.text('backfill.crm')}</dt>
      <dd>${row && connectionState(reader, row, now)}</dd>
      <dt>${reader.text('backfill.match')}</dt>
      <dd><code>${crm.match ?? '–'}</code></dd>
    </dl>
    ${crm.match === undefined && noMatch(visit, crm)} ${run === undefined && crm.match !== undefined && html`<p>${reader.text('backfill.first')}</p>`}`;
}

/** Links to the choice of the property, for those who may change it. */
const noMatch = ({ reader, visitor }: Visit, { name }: Crm): VNode =>
  html`<p class="notice warn">
    ${reader.text('backfill.noMatch')}
    ${includesRole(visitor.role, 'admin') && html` <a href=${`${SETTINGS}/number/${encodeURIComponent(name)}`}>${reader.text('backfill.choose')}</a>`}
  </p>`;

/** The rows that somebody asked for; by default those that need a person, if there are any near the beginning. */
async function lookAt(
  db: Db,
  name: string,
  { query }: Visit,
  { person }: ScanCounts,
): Promise<{ readonly place: PlanPlace; readonly page: PlanPage }> {
  const look = async (place: PlanPlace) => ({
    place,
    page: await listRows(db, name, place.filter, { after: place.after, limit: SHOWN }),
  });
  if (isChosen(query) || person === 0) return await look(readPlace(query));
  const { withOutlook } = readPlace(query);
  const doubtful = await look({ filter: { part: 'person' }, after: 0, withOutlook });
  return doubtful.page.rows.length > 0 ? doubtful : await look({ filter: {}, after: 0, withOutlook });
}

async function planRows(
  deps: BackfillPageDeps,
  visit: Visit,
  crm: Crm,
  { place, page, mayEdit }: { readonly place: PlanPlace; readonly page: PlanPage; readonly mayEdit: boolean },
): Promise<Markup> {
  const { rows } = page;
  if (rows.length === 0) return noRows(visit, page);
  const outlook = place.withOutlook ? await readOutlook(deps, visit, crm, rows) : undefined;
  return html`${outlook?.notice}
    ${planTable(visit, rows, await namesOf(deps.store.db, rows), {
      outlook: outlook?.cells,
      actions: mayEdit ? (row) => rowActions(visit, crm.name, row, place) : undefined,
    })}`;
}

async function planSection(
  deps: BackfillPageDeps,
  visit: Visit,
  crm: Crm,
  { counts, mayEdit }: { readonly counts: ScanCounts; readonly mayEdit: boolean },
): Promise<Markup> {
  const { reader } = visit;
  const { name } = crm;
  const mayUpload = includesRole(visit.visitor.role, 'operator');
  const { place, page } = await lookAt(deps.store.db, name, visit, counts);
  const { after } = place;
  const parts = { person: counts.person, link: counts.toLink, linked: counts.linked, failed: counts.failed };
  return html`<h2>${reader.text('plan.counts')}</h2>
    ${confidenceTable(visit, name, counts)}
    <h2>${reader.text('plan.title')}</h2>
    <ul class="lines">
      ${(['person', 'link', 'linked', 'failed'] as const).map(
        (part) =>
          parts[part] > 0 &&
          html`<li><a href=${planAddress(name, { part })}>${reader.text(`part.${part}`)}</a>: ${reader.number(parts[part])}</li>`,
      )}
    </ul>
    <p><a href=${backfillAddress(name, '/plan.csv')} download>${reader.text('plan.download')}</a> ${mayUpload && html`<a href=${backfillAddress(name, '/upload')}>${reader.text('upload.way')}</a>`}</p>
    ${planFilterForm(visit, name, place)} ${await planRows(deps, visit, crm, { place, page, mayEdit })}
    <p class="actions">
      ${after > 0 && html`<a href=${placeAddress(name, { ...place, after: 0 })}>${reader.text('plan.first')}</a>`}
      ${mayEdit && page.rows.some(({ action, state: is }) => action === 'link' && is === 'planned') && skipAllLink(visit, name, place)}
      ${page.next !== undefined && html`<a rel="next" href=${placeAddress(name, { ...place, after: page.next })}>${reader.text('plan.next')}</a>`}
    </p>`;
}
