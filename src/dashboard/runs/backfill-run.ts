/** Backfills as runs: scans, and what an apply would link. The plan has the result for each record. */
import type { VNode } from 'preact';
import {
  type BackfillJob,
  type BackfillPreview,
  type BackfillRequest,
  countToLink,
  needsWord,
  readPreview,
} from '../../connector/backfill/plan/backfill-task.ts';
import { printWarnings } from '../../connector/backfill/plan/doubts.ts';
import { listRows } from '../../connector/backfill/plan/list-rows.ts';
import { readCounts } from '../../connector/backfill/rows/counts.ts';
import { planRevision, readRun as readPlan } from '../../connector/backfill/rows/progress.ts';
import { readAccount } from '../../connector/crm/guard.ts';
import { recordAddress } from '../../connector/crm/record-id.ts';
import { readConnections } from '../../operations/installation/status/connections.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { inboxAddress } from '../addresses/inbox.ts';
import { writesAddress } from '../addresses/writes.ts';
import { type BackfillPageDeps, backfillAddress, planAddress } from '../backfill/filter.ts';
import { companyOf, namesOf, planTable } from '../backfill/plan-table.ts';
import { connectionState } from '../connections/table.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { hidden } from '../page/messages.ts';
import { table } from '../page/parts.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import type { RunDetails, RunFace } from './run-face.ts';

const SHOWN = 100;

export const backfillFace = (deps: BackfillPageDeps): RunFace<BackfillRequest> => ({
  title: (reader, { id, input: { kind, provider } }) =>
    reader.text(`backfill.${kind}Title`, { name: provider, id: String(id) }),
  progress: (reader, { done, total }) =>
    total === null ? reader.text('backfill.seen', { count: done }) : reader.text('apply.progress', { done, of: total }),
  facts: (visit, run) => facts(deps, visit, run),
  details: (visit, run) => (run.input.kind === 'apply' ? applyDetails(deps, visit, run) : planDetails(visit, run)),
});

async function facts({ store, crms }: BackfillPageDeps, { reader, now }: Visit, run: BackfillJob): Promise<Markup> {
  const { kind, provider, trust = 'crm', sendUpdate = false, limit } = run.input;
  const crm = crms.find(({ name }) => name === provider);
  const [row] = crm === undefined ? [] : await readConnections(store.db, [crm], now);
  const plan = await readPlan(store.db, provider);
  const isOpen = isUnderWay(run);
  return html`${
    isOpen &&
    plan?.run === run.id &&
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
        <dd>${reader.text(sendUpdate ? 'value.yes' : 'value.no')}</dd>
        ${
          limit !== undefined &&
          html`<dt>${reader.text('apply.trialOf')}</dt>
          <dd>${reader.text('apply.atMost', { count: limit })}</dd>`
        }`
    }`;
}

const isUnderWay = ({ state }: BackfillJob): boolean => state === 'waiting' || state === 'running';

const planLink = ({ reader }: Visit, provider: string): VNode =>
  html`<p><a class="button" href=${backfillAddress(provider)}>${reader.text('backfill.toPlan')}</a></p>`;

/** Where somebody answers what a scan or a match found. */
const planDetails = async (visit: Visit, { input: { kind, provider } }: BackfillJob): Promise<RunDetails> => ({
  ask:
    kind === 'match'
      ? html`<p><a class="button" href=${inboxAddress({ kind: 'match' })}>${visit.reader.text('match.toFound')}</a></p>`
      : planLink(visit, provider),
  body: null,
});

async function applyDetails(deps: BackfillPageDeps, visit: Visit, run: BackfillJob): Promise<RunDetails> {
  const { reader } = visit;
  const { db } = deps.store;
  const { provider, revision } = run.input;
  const preview = await readPreview(db, run.id);
  if (isUnderWay(run)) return { body: null };
  if (run.stage === 'run' || preview === undefined) return { ask: null, body: await results(deps, visit, run) };
  if (planRevision(await readPlan(db, provider)) !== revision)
    return {
      ask: html`<p class="notice warn">${reader.text('apply.stale')}</p>`,
      body: planLink(visit, provider),
    };
  const isDoubtful = needsWord(preview) && run.input.isMeant !== true;
  const count = countToLink(preview, run.input);
  const { rows, next } = await listRows(db, provider, { part: 'link' }, { after: 0, limit: Math.min(SHOWN, count) });
  const button = reader.text('apply.run', { count });
  return {
    confirmation: count === 0 ? undefined : { button, words: reader.text('apply.readsAgain') },
    ...(isDoubtful && { ask: meantForm(visit, run) }),
    body: html`${warningList(visit, preview)}
      <h2>${reader.text('apply.rows', { count })}</h2>
      ${planTable(visit, rows, await namesOf(db, rows))}
      ${(count > rows.length || (next !== undefined && run.input.limit === undefined)) && html`<p><a href=${planAddress(provider, { part: 'link' })}>${reader.text('apply.allRows')}</a></p>`}
      ${planLink(visit, provider)}`,
  };
}

/** The results are in the plan. */
async function results(
  deps: BackfillPageDeps,
  visit: Visit,
  { state, input: { provider, sendUpdate, limit } }: BackfillJob,
): Promise<VNode> {
  const { reader } = visit;
  const { db } = deps.store;
  const { linked, failed, person, toLink: link } = await readCounts(db, provider);
  const parts = { linked, failed, person, link };
  return html`${
    state === 'done' &&
    sendUpdate === true &&
    linked > 0 &&
    html`<p>${reader.text('backfill.filling')} <a href=${writesAddress({ provider })}>${reader.text('backfill.written')}</a></p>`
  }
    ${state === 'done' && limit !== undefined && (await trialPart(deps, visit, provider, { linked, limit, isWhole: link === 0 }))}
    <ul class="lines">
      ${(['linked', 'failed', 'person', 'link'] as const).map(
        (part) =>
          parts[part] > 0 &&
          html`<li><a href=${planAddress(provider, { part })}>${reader.text('plan.title')}: ${reader.text(`part.${part}`)}</a>: ${reader.number(parts[part])}</li>`,
      )}
    </ul>
    ${planLink(visit, provider)}`;
}

/** The records of a trial, each with a link to the CRM, and the next step. */
async function trialPart(
  { store: { db }, crms }: BackfillPageDeps,
  visit: Visit,
  provider: string,
  { linked, limit, isWhole }: { readonly linked: number; readonly limit: number; readonly isWhole: boolean },
): Promise<VNode> {
  const { reader } = visit;
  // After another trial, or a link of part of the plan, the list has them all.
  const { rows } =
    linked > limit ? { rows: [] } : await listRows(db, provider, { part: 'linked' }, { after: 0, limit });
  const crm = crms.find(({ name }) => name === provider);
  const account = await readAccount(db, provider);
  const names = await namesOf(db, rows);
  const shown = rows.map((row) => {
    const address = crm && recordAddress(crm, row.record_id, account);
    const text = html`<code>${row.record_id}</code> ${row.name}`;
    return [
      address === undefined ? text : html`<a href=${address} rel="noreferrer">${text}</a>`,
      companyOf(row, names),
    ];
  });
  return html`<section>
    <h2>${reader.text('apply.trialOf')}</h2>
    <p>${reader.text('apply.trialDone')} ${!isWhole && reader.text('apply.trialNext')} <a href=${writesAddress({ provider })}>${reader.text('apply.trialBack')}</a></p>
    ${
      shown.length > 0 &&
      table({
        label: reader.text('apply.trialOf'),
        columns: [reader.text('plan.record'), reader.text('plan.number')],
        rows: shown,
      })
    }
  </section>`;
}

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

/** Asks whether a doubtful plan is meant, and then for a new preview. */
function meantForm({ reader, visitor, formToken }: Visit, { input }: BackfillJob): Markup {
  const { provider, revision, trust, sendUpdate = false, limit } = input;
  if (!includesRole(visitor.role, 'operator')) return null;
  const fields = {
    [FORM_TOKEN]: formToken,
    revision,
    trust,
    sendUpdate: sendUpdate ? 'yes' : undefined,
    trial: limit === undefined ? undefined : 'yes',
    meant: 'yes',
  };
  return html`<form method="post" action=${backfillAddress(provider, '/apply')}>
    ${hidden(fields)}
    <p>${reader.text('apply.meantHelp')}</p>
    <button>${reader.text('apply.meant')}</button>
  </form>`;
}
