/** The pages of connections: whether each may be called and how often, its mapping, and a test of its credentials. */

import type { VNode } from 'preact';
import { checkCredentials } from '../../connector/check.ts';
import { checkRows } from '../../connector/crm/check-mapping.ts';
import type { Crm, CrmDeps } from '../../connector/crm/crm.ts';
import { readAccount, twinFindings, withAccounts } from '../../connector/crm/guard.ts';
import type { Server } from '../../http/server/server.ts';
import type { ConfigNeeds } from '../../operations/installation/configuration.ts';
import { readConnections } from '../../operations/installation/status/connections.ts';
import type { WireOptions } from '../../protocol/payload.ts';
import type { Findings } from '../../runtime/finding.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { connectionAddress } from '../addresses/addresses.ts';
import { CRM_LIMIT_MS } from '../companies/company-deps.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, notFoundPage } from '../page/messages.ts';
import { state, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage, type RouteDeps } from '../routes/routes.ts';
import type { CallMeter } from './call-meter.ts';
import { addLeaving, leavingSection } from './leaving.ts';
import { addPayloadTrial, eventIn, payloadForm } from './payload.ts';
import { addAcceptance, proposalSection } from './proposal.ts';
import { connectionState, connectionsTable } from './table.ts';

export interface ConnectionDeps extends RouteDeps, Pick<CrmDeps, 'http' | 'metrics'>, WireOptions {
  readonly crms: readonly Crm[];
  /** The configuration in the file. */
  readonly configuration: ConfigNeeds['configuration'];
  readonly meter: Pick<CallMeter, 'read'>;
}

export function addConnections(app: Server, deps: ConnectionDeps): void {
  const { store, crms } = deps;
  const find = ({ param }: Visit): Crm | undefined => crms.find(({ name }) => name === param('name'));
  addPage(app, deps, {
    path: '/connections',
    async show(visit) {
      const rows = await readConnections(store.db, crms, visit.now);
      return {
        title: visit.reader.text('nav.connections'),
        body: connectionsTable(visit, rows, await deps.meter.read()),
      };
    },
  });
  addPage(app, deps, {
    path: '/connections/:name',
    async show(visit) {
      const crm = find(visit);
      return crm && connectionPage(deps, visit, crm);
    },
  });
  addAction(app, deps, {
    path: '/connections/:name/try',
    async run(visit) {
      const crm = find(visit);
      if (crm === undefined) return notFoundPage(visit.reader);
      const findings = await tryCredentials(deps, crm);
      const result = findings.some(({ level }) => level === 'fail') ? 'failed' : 'done';
      const entry = { actor: visit.visitor.actor, via: 'page', action: 'connection.try', subject: crm.name } as const;
      await store.write((tx) => recordAudit(tx, { ...entry, result }, visit.now));
      return connectionPage(deps, visit, crm, findings);
    },
  });
  addAcceptance(app, deps);
  addPayloadTrial(app, deps);
  addLeaving(app, deps);
}

/** Reports a missing answer in time, even if the provider ignores the signal. */
async function tryCredentials(deps: ConnectionDeps, crm: Crm): Promise<Findings> {
  const signal = AbortSignal.timeout(CRM_LIMIT_MS);
  const late = new Promise<Findings>((resolve) => {
    const found = `no answer within ${CRM_LIMIT_MS / 1_000} s`;
    const advice = 'try again later; see whether this machine may reach it';
    signal.addEventListener('abort', () => resolve([{ level: 'fail', subject: crm.name, found, advice }]));
  });
  return Promise.race([late, checkCredentials(deps, crm, signal)]);
}

async function connectionPage(deps: ConnectionDeps, visit: Visit, crm: Crm, tried?: Findings): Promise<PageBody> {
  const { reader, now, visitor, formToken } = visit;
  const { db } = deps.store;
  const [row] = await readConnections(db, [crm], now);
  const account = await readAccount(db, crm.name);
  const twins = account === undefined ? [] : twinFindings(crm, account, await withAccounts(db, deps.crms));
  return {
    title: crm.name,
    body: html`${twins.length > 0 && html`<div class="notice warn">${findingList(reader, twins)}</div>`}
      <dl class="facts">
        <dt>${reader.text('overview.state')}</dt>
        <dd>${row && connectionState(reader, row, now)}</dd>
        <dt>${reader.text('connection.account')}</dt>
        <dd><code>${account ?? '–'}</code></dd>
        <dt>${reader.text('connection.match')}</dt>
        <dd><code>${crm.match ?? '–'}</code></dd>
        <dt>${reader.text('connection.hold')}</dt>
        <dd><code>${crm.hold ?? '–'}</code></dd>
      </dl>
      ${row?.state.kind === 'left' && (await leavingSection(deps, visit, crm.name))} ${await proposalSection(deps, visit, crm.name)} ${tried && html`<div role="status">${findingList(reader, tried)}</div>`}
      ${
        includesRole(visitor.role, 'operator') &&
        html`<form method="post" action=${`${connectionAddress(crm.name)}/try`}>
          ${hidden({ [FORM_TOKEN]: formToken })}
          <button>${reader.text('connection.try')}</button>
        </form>`
      }
      <h2>${reader.text('connection.budgets')}</h2>
      ${budgets(visit, crm)}
      <h2>${reader.text('connection.mapping')}</h2>
      ${await mapping(visit, crm, row?.state.kind !== 'left')}
      ${includesRole(visitor.role, 'operator') && html`<h2>${reader.text('payload.try')}</h2>`} ${payloadForm(visit, crm, await eventIn(db, visit))}
      ${row?.state.kind !== 'left' && (await leavingSection(deps, visit, crm.name))}`,
  };
}

const LEVEL_SIGNS = { ok: 'ok', info: 'idle', warn: 'warn', fail: 'bad' } as const;

const findingList = (reader: Reader, findings: Findings): VNode =>
  html`<ul class="lines">${findings.map(
    ({ level, found, advice }) =>
      html`<li>${state(LEVEL_SIGNS[level], said(reader, found))}${advice && html`<div class="quiet">${said(reader, advice)}</div>`}</li>`,
  )}</ul>`;

function budgets({ reader }: Visit, { limits }: Crm): VNode {
  return table({
    label: reader.text('connection.budgets'),
    columns: [reader.text('connection.budget'), reader.text('connection.calls'), reader.text('connection.window')],
    numeric: [1],
    rows: Object.entries(limits.budgets).map(([name, { calls, perMs }]) => [
      html`<code>${name}</code>`,
      reader.number(calls),
      reader.duration(perMs),
    ]),
  });
}

/** The mapping with the findings of `check` for each property, if the CRM is called and answers. */
async function mapping({ reader }: Visit, crm: Crm, isCalled: boolean): Promise<Markup> {
  const checked = isCalled ? await readChecked(crm) : undefined;
  const rows: readonly CheckedRow[] =
    checked ?? crm.mapping.filter(({ policy }) => policy !== 'never').map((row) => ({ row, findings: [] }));
  return html`${isCalled && checked === undefined && html`<p class="notice warn">${reader.text('connection.unchecked')}</p>`}
    ${table({
      label: reader.text('connection.mapping'),
      columns: (['field', 'property', 'policy', 'check'] as const).map((column) => reader.text(`connection.${column}`)),
      marked: rows.flatMap(({ findings }, index) => (findings.some(({ level }) => level === 'fail') ? [index] : [])),
      rows: rows.map(({ row, findings }) => [
        reader.text(`field.${row.field}`),
        html`<code>${row.property}</code>`,
        reader.text(`policy.${row.policy}`),
        findings.length > 0
          ? findingList(reader, findings)
          : checked !== undefined && state('ok', reader.text('connection.fits')),
      ]),
    })}`;
}

type CheckedRow = ReturnType<typeof checkRows>[number];

/** Undefined if the CRM may not be called, or does not list its properties in time. */
async function readChecked(crm: Crm): Promise<readonly CheckedRow[] | undefined> {
  if ((await crm.rateLimiter.blockedUntil()) !== undefined) return undefined;
  const signal = AbortSignal.timeout(CRM_LIMIT_MS);
  const late = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined));
  });
  const reading = crm.schema(signal).then((schema) => checkRows(crm, [...schema.values()]));
  return Promise.race([late, reading.catch(() => undefined)]);
}
