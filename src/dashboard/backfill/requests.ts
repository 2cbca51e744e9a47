/** The forms that request a scan, or the preview of an apply. */
import type { VNode } from 'preact';
import {
  type BackfillProgress,
  isApplying,
  isScanning,
  planRevision,
  readRun,
} from '../../connector/backfill/rows/progress.ts';
import type { Crm } from '../../connector/crm/crm.ts';
import type { Server } from '../../http/server/server.ts';
import { previewApply, scanCrm } from '../../operations/connector/run-requests.ts';
import type { Refused } from '../../operations/definition/operation.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { runAddress } from '../addresses/addresses.ts';
import { confirmationPage } from '../page/confirmation.ts';
import { type Fields, FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, notFoundPage } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addPage } from '../routes/routes.ts';
import { type BackfillPageDeps, backfillAddress, crmOf } from './filter.ts';

/** The number of records in a trial. */
const TRIAL = 20;

/** Adds the actions, and the page that asks before a scan discards something. */
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
  const next = (_visit: Visit, { id }: { readonly id: number }): string => runAddress(id);
  const isSet = (fields: Fields, name: string): boolean => fieldValue(fields, name) === 'yes';
  addForm(app, deps, scanCrm, {
    path: '/backfill/:name/scan',
    input: ({ param }, fields) => ({
      provider: param('name'),
      revision: fieldValue(fields, 'revision'),
      goesOn: isSet(fields, 'goesOn'),
    }),
    next,
    refused,
  });
  addForm(app, deps, previewApply, {
    path: '/backfill/:name/apply',
    input: ({ param }, fields) => ({
      provider: param('name'),
      revision: fieldValue(fields, 'revision'),
      trust: fieldValue(fields, 'trust') === 'register' ? ('register' as const) : ('crm' as const),
      sendUpdate: isSet(fields, 'sendUpdate'),
      ...(isSet(fields, 'trial') && { limit: TRIAL }),
      isMeant: isSet(fields, 'meant'),
    }),
    next,
    refused,
  });
}

/** For a connection that is not configured, or has no property for the CVR number. */
const refused = ({ reader }: Visit, { issues }: Refused): PageBody | undefined =>
  issues.some(({ path }) => path === '/provider') ? notFoundPage(reader) : undefined;

/** Says what a scan from the beginning discards. */
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

/** Starts the first scan at once; resumes a stopped one; asks before a further one. */
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

/** The form that requests the preview of applying the plan. */
export function applyForm(
  { reader, visitor, formToken }: Visit,
  { name }: Crm,
  { run, toLink }: { readonly run: BackfillProgress; readonly toLink: number },
): Markup {
  if (!includesRole(visitor.role, 'operator') || run.phase !== 'planned') return null;
  return html`<h2>${reader.text('apply.title')}</h2>
    <form method="post" action=${backfillAddress(name, '/apply')} class="narrow form">
      ${hidden({ [FORM_TOKEN]: formToken, revision: planRevision(run) })}
      <label for="trust">${reader.text('apply.trust')}</label>
      <select id="trust" name="trust">
        ${(['crm', 'register'] as const).map((each) => html`<option value=${each}>${reader.text(`trust.${each}`)}</option>`)}
      </select>
      ${check('sendUpdate', reader.text('apply.sendUpdateHelp'), true)}
      <p class="actions">
        <button class="primary">${reader.text('apply.preview')}</button>
        ${toLink > TRIAL && html`<button name="trial" value="yes">${reader.text('apply.trial', { count: TRIAL })}</button>`}
      </p>
      <p class="quiet">
        ${reader.text('apply.previewHelp')}${toLink > TRIAL && html` ${reader.text('apply.trialHelp')}`}
      </p>
    </form>`;
}

const check = (name: string, label: string, isSet = false): VNode =>
  html`<label class="check"><input type="checkbox" name=${name} value="yes" checked=${isSet} /> <span>${label}</span></label>`;
