/** One scan or apply: what it would do, how far it is, and what became of it. */
import type { VNode } from 'preact';
import {
  BACKFILL,
  type BackfillJob,
  type BackfillPreview,
  cancelBackfill,
  needsWord,
  readPreview,
  requestApply,
} from '../../connector/backfill/plan/backfill-runs.ts';
import { printWarnings } from '../../connector/backfill/plan/doubts.ts';
import { listRows } from '../../connector/backfill/plan/list-rows.ts';
import { type BackfillProgress, planRevision, readRun as readPlan } from '../../connector/backfill/rows/progress.ts';
import type { Server } from '../../http/server/server.ts';
import { readConnections } from '../../operations/status/connections.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { readRun } from '../../runtime/runs/runs.ts';
import type { Db } from '../../store/store.ts';
import { connectionState } from '../connections/table.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addPage } from '../routes/routes.ts';
import { addRunSteps, runBody, runIdIn, runSteps, runSummary } from '../routes/run-actions.ts';
import { type BackfillPageDeps, backfillAddress, planAddress } from './filter.ts';
import { namesOf, planTable } from './plan-table.ts';

/** Where scans and applies are. */
export const BACKFILLS = '/backfills';

const SHOWN = 100;

/** Adds the page, and the actions that carry out what was previewed, and cancel. */
export function addBackfillRuns(app: Server, deps: BackfillPageDeps): void {
  addPage(app, deps, {
    path: `${BACKFILLS}/:id`,
    async show(visit) {
      const id = runIdIn(visit.param('id'));
      const run = id === undefined ? undefined : await readRun(deps.store.db, BACKFILL, id);
      return run && runPage(deps, visit, run);
    },
  });
  addRunSteps(app, deps, { path: BACKFILLS, run: requestApply, cancel: cancelBackfill });
}

async function runPage(deps: BackfillPageDeps, visit: Visit, run: BackfillJob): Promise<PageBody> {
  const { reader } = visit;
  const { kind, provider } = run.input;
  const plan = await readPlan(deps.store.db, provider);
  return {
    title: reader.text(`backfill.${kind}Title`, { name: provider, id: String(run.id) }),
    body: runBody(
      visit,
      run,
      html`${await summary(deps, visit, run, plan)}
        ${kind === 'scan' ? scanSteps(visit, run) : await applySteps(deps.store.db, visit, run, plan)}`,
    ),
  };
}

async function summary(
  { store, crms }: BackfillPageDeps,
  visit: Visit,
  run: BackfillJob,
  plan: BackfillProgress | undefined,
): Promise<VNode> {
  const { reader, now } = visit;
  const { kind, provider, trust = 'crm', sendUpdate = false } = run.input;
  const crm = crms.find(({ name }) => name === provider);
  const [row] = crm === undefined ? [] : await readConnections(store.db, [crm], now);
  const isOpen = run.state === 'waiting' || run.state === 'running';
  return runSummary(
    visit,
    run,
    progressText(visit, run),
    html`${
      isOpen &&
      plan?.page === run.id &&
      html`<dt>${reader.text('backfill.phase')}</dt>
        <dd>${reader.text(`phase.${plan.phase}`)}</dd>`
    }
      ${
        isOpen &&
        row &&
        html`<dt>${reader.text('backfill.crm')}</dt>
          <dd>${connectionState(reader, row, now)}</dd>`
      }
      ${
        kind === 'apply' &&
        html`<dt>${reader.text('apply.trust')}</dt>
          <dd>${reader.text(`trust.${trust}`)}</dd>
          <dt>${reader.text('apply.sendUpdate')}</dt>
          <dd>${reader.text(sendUpdate ? 'value.yes' : 'value.no')}</dd>`
      }`,
  );
}

function progressText({ reader }: Visit, { input, stage, done, total }: BackfillJob): string {
  if (input.kind === 'apply' && stage === 'run' && total !== null)
    return reader.text('apply.progress', { done, of: total });
  return reader.text('backfill.seen', { count: done });
}

const planLink = ({ reader }: Visit, provider: string): VNode =>
  html`<p><a href=${backfillAddress(provider)}>${reader.text('backfill.toPlan')}</a></p>`;

function scanSteps(visit: Visit, run: BackfillJob): Markup {
  const isOver = run.state !== 'waiting' && run.state !== 'running';
  return isOver ? planLink(visit, run.input.provider) : runSteps(visit, run, BACKFILLS, undefined);
}

async function applySteps(db: Db, visit: Visit, run: BackfillJob, plan: BackfillProgress | undefined): Promise<Markup> {
  const { reader } = visit;
  const { provider, revision } = run.input;
  const preview = await readPreview(db, run.id);
  const isOpen = run.state === 'waiting' || run.state === 'running';
  if (run.stage === 'run' || preview === undefined || isOpen)
    return html`${runSteps(visit, run, BACKFILLS, undefined)} ${!isOpen && results(visit, provider)}`;
  if (planRevision(plan) !== revision)
    return html`<p class="notice warn">${reader.text('apply.stale')}</p>${planLink(visit, provider)}`;
  const ready = {
    button: reader.text('apply.run', { count: preview.toLink }),
    words: reader.text('apply.readsAgain'),
  };
  const isDoubtful = needsWord(preview) && run.input.isMeant !== true;
  const { rows, next } = await listRows(db, provider, { part: 'link' }, { after: 0, limit: SHOWN });
  const count = preview.toLink;
  return html`${warningList(visit, preview)}
    ${isDoubtful ? meantForm(visit, run) : runSteps(visit, run, BACKFILLS, count === 0 ? undefined : ready)}
    <h2>${reader.text('apply.rows', { count })}</h2>
    ${planTable(visit, rows, await namesOf(db, rows))}
    ${(next !== undefined || count > rows.length) && html`<p><a href=${planAddress(provider, { part: 'link' })}>${reader.text('apply.allRows')}</a></p>`}
    ${planLink(visit, provider)}`;
}

/** The plan says what became of each record. */
const results = (visit: Visit, provider: string): VNode =>
  html`<ul class="lines">
      ${(['linked', 'failed', 'person', 'link'] as const).map(
        (part) =>
          html`<li><a href=${planAddress(provider, { part })}>${visit.reader.text('plan.title')}: ${visit.reader.text(`part.${part}`)}</a></li>`,
      )}
    </ul>
    ${planLink(visit, provider)}`;

function warningList({ reader }: Visit, { warnings, moved, toLink }: BackfillPreview): Markup {
  const lines = printWarnings(warnings, toLink, false);
  if (lines.length === 0 && moved === 0) return null;
  return html`<div class="notice warn">
    <p>${reader.text('apply.against')}</p>
    <ul>
      ${lines.map((line) => html`<li>${said(reader, line)}</li>`)}
      ${moved > 0 && html`<li>${said(reader, `${moved} have the number of another record`)}</li>`}
    </ul>
  </div>`;
}

/** So much speaks against the plan that a person must say that it is meant; then it is previewed again. */
function meantForm({ reader, visitor, formToken }: Visit, { input }: BackfillJob): Markup {
  const { provider, revision, trust, sendUpdate = false } = input;
  if (!includesRole(visitor.role, 'operator')) return null;
  const fields = { [FORM_TOKEN]: formToken, revision, trust, sendUpdate: sendUpdate ? 'yes' : undefined, meant: 'yes' };
  return html`<form method="post" action=${backfillAddress(provider, '/apply')}>
    ${hidden(fields)}
    <p>${reader.text('apply.meantHelp')}</p>
    <button>${reader.text('apply.meant')}</button>
  </form>`;
}
