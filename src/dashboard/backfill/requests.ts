/** The forms that ask for a scan, or for the preview of an apply. */
import type { VNode } from 'preact';
import { type BackfillRequest, requestBackfill } from '../../connector/backfill/plan/backfill-runs.ts';
import {
  type BackfillProgress,
  isApplying,
  isScanning,
  planRevision,
  readRun,
} from '../../connector/backfill/rows/progress.ts';
import type { Crm } from '../../connector/crm/crm.ts';
import type { Server } from '../../http/server/server.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { confirmationPage } from '../page/confirmation.ts';
import { type Fields, FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { hidden, notFoundPage } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage } from '../routes/routes.ts';
import { type BackfillPageDeps, backfillAddress, crmOf } from './filter.ts';
import { BACKFILLS } from './run-page.ts';

/** Adds the actions, and the page that asks before a scan forgets something. */
export function addBackfillRequests(app: Server, deps: BackfillPageDeps): void {
  const { store } = deps;
  addPage(app, deps, {
    path: '/backfill/:name/scan',
    role: 'operator',
    async show(visit) {
      const crm = crmOf(deps, visit);
      return crm?.match === undefined ? undefined : anewPage(visit, crm, await readRun(store.db, crm.name));
    },
  });
  for (const kind of ['scan', 'apply'] as const)
    addAction(app, deps, {
      path: `/backfill/:name/${kind}`,
      async run(visit, fields) {
        const crm = crmOf(deps, visit);
        if (crm?.match === undefined) return notFoundPage(visit.reader);
        const input = { kind, provider: crm.name, ...readRequest(kind, fields) };
        const { actor } = visit.visitor;
        const id = await store.write((tx) => requestBackfill(tx, { input, actor }, visit.now));
        return `${BACKFILLS}/${id}`;
      },
    });
}

function readRequest(kind: BackfillRequest['kind'], fields: Fields): Omit<BackfillRequest, 'kind' | 'provider'> {
  const isSet = (name: string): boolean => fieldValue(fields, name) === 'yes';
  const revision = fieldValue(fields, 'revision');
  if (kind === 'scan') return { revision, goesOn: isSet('goesOn') };
  const trust = fieldValue(fields, 'trust') === 'register' ? 'register' : 'crm';
  return { revision, trust, sendUpdate: isSet('sendUpdate'), isMeant: isSet('meant') };
}

/** What a scan from the beginning forgets. */
function anewPage(visit: Visit, { name }: Crm, run: BackfillProgress | undefined) {
  const { reader } = visit;
  const edits = run?.edits ?? 0;
  return confirmationPage(visit, {
    title: reader.text('scan.anew'),
    help: html`<p>${reader.text('scan.anewHelp', { name })}</p>
      ${edits > 0 && html`<p class="notice warn">${reader.text('scan.forgets', { count: edits })}</p>`}
      ${run && isApplying(run.phase) && html`<p class="notice warn">${reader.text('scan.applying')}</p>`}`,
    action: backfillAddress(name, '/scan'),
    fields: { revision: planRevision(run) },
    submit: reader.text('scan.anew'),
    back: backfillAddress(name),
  });
}

/** The way to a scan: the first at once, one that was stopped goes on, a further one asks. */
export function scanForm(
  { reader, visitor, formToken }: Visit,
  { name }: Crm,
  run: BackfillProgress | undefined,
): Markup {
  if (!includesRole(visitor.role, 'operator')) return null;
  const isStopped = run !== undefined && isScanning(run.phase);
  const fields = { [FORM_TOKEN]: formToken, revision: planRevision(run), goesOn: isStopped ? 'yes' : undefined };
  return html`<div class="actions">
    ${
      (run === undefined || isStopped) &&
      html`<form method="post" action=${backfillAddress(name, '/scan')}>
        ${hidden(fields)}
        <button class="primary">${reader.text(isStopped ? 'scan.goOn' : 'scan.begin')}</button>
      </form>`
    }
    ${run && html`<a href=${backfillAddress(name, '/scan')}>${reader.text('scan.anew')}</a>`}
  </div>`;
}

/** The form that asks what applying the plan would do. */
export function applyForm({ reader, visitor, formToken }: Visit, { name }: Crm, run: BackfillProgress): Markup {
  if (!includesRole(visitor.role, 'operator') || run.phase !== 'planned') return null;
  return html`<h2>${reader.text('apply.title')}</h2>
    <form method="post" action=${backfillAddress(name, '/apply')} class="narrow form">
      ${hidden({ [FORM_TOKEN]: formToken, revision: planRevision(run) })}
      <label for="trust">${reader.text('apply.trust')}</label>
      <select id="trust" name="trust">
        ${(['crm', 'register'] as const).map((each) => html`<option value=${each}>${reader.text(`trust.${each}`)}</option>`)}
      </select>
      ${check('sendUpdate', reader.text('apply.sendUpdateHelp'))}
      <p class="actions">
        <button class="primary">${reader.text('apply.preview')}</button>
        <span class="quiet">${reader.text('apply.previewHelp')}</span>
      </p>
    </form>`;
}

const check = (name: string, label: string): VNode =>
  html`<label class="check"><input type="checkbox" name=${name} value="yes" /> <span>${label}</span></label>`;
