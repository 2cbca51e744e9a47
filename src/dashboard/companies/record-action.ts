/** Actions on one record of a company. Each has a page that says what it would change. */
import { hash } from 'node:crypto';
import type { VNode } from 'preact';
import type { Crm } from '../../connector/crm/crm.ts';
import { readRecordId } from '../../connector/crm/record-id.ts';
import { companyNames } from '../../connector/explain/company-names.ts';
import { findLink, type Link } from '../../connector/links/links.ts';
import type { RecordRef } from '../../connector/names/queues.ts';
import { readOverrides } from '../../connector/overrides/override.ts';
import type { Server } from '../../http/server/server.ts';
import type { ConnectorNeeds } from '../../operations/connector/records.ts';
import { type Ground, type OperationCaller, Refused } from '../../operations/definition/operation.ts';
import { canonicalEntityId } from '../../protocol/entity-id.ts';
import type { Db, Tx } from '../../store/store.ts';
import { companyAddress } from '../addresses/addresses.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, notFoundPage } from '../page/messages.ts';
import { noDefaultAnswer } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage } from '../routes/routes.ts';
import type { CompanyDeps } from './company-deps.ts';

/** The record and company of a request, with the fields sent so far. */
export interface AskedRecord {
  readonly visit: Visit;
  readonly entity: string;
  /** Undefined before a connection and a record are named. */
  readonly ref: RecordRef | undefined;
  readonly crm: Crm | undefined;
  /** The record's link to any company. */
  readonly link: Link | undefined;
  field(name: string): string;
}

export type NamedRecord = AskedRecord & { readonly ref: RecordRef; readonly crm: Crm };

/** A form for missing fields, with the errors in those that were sent. */
interface Question {
  readonly help: string;
  readonly inputs: Markup;
  readonly problem?: string | undefined;
}

export interface Proposal {
  readonly effect: Markup;
  /** What was shown of the CRM. If it has changed when the person confirms, the page asks again. */
  readonly seen: unknown;
  /** Whether nothing is left to do: sending a form twice is not an error. */
  readonly isDone?: boolean;
  /** Undefined if the action is impossible; `effect` says why. */
  readonly step?: ActionStep | undefined;
}

/** How to carry out a proposal. */
interface ActionStep {
  readonly button: string;
  /** A statement that the person must also confirm. */
  readonly consent?: string | undefined;
  /** Performs the operation. Throws {@link Refused}. */
  perform(ground: Ground & ConnectorNeeds, by: OperationCaller): Promise<unknown>;
}

export interface RecordAction {
  /** The last part of its path. */
  readonly name: 'hold' | 'release' | 'end' | 'update' | 'link' | 'unlink';
  /** Whether the record must be linked to the company; true for all but `link`. */
  readonly isForLinked: boolean;
  /** The page after the action; the company by default. */
  next?(asked: AskedRecord): string;
  /** Says what the action would do, or asks for more. Writes nothing. */
  propose(asked: AskedRecord): Promise<Proposal | Question>;
}

export function actionAddress(
  entity: string,
  name: RecordAction['name'],
  fields: Readonly<Record<string, string>>,
): string {
  const path = `${companyAddress(entity)}/${name}`;
  return Object.keys(fields).length === 0 ? path : `${path}?${new URLSearchParams(fields)}`;
}

export function addRecordAction(app: Server, deps: CompanyDeps, action: RecordAction): void {
  const path = `/companies/:entity/${action.name}`;
  addPage(app, deps, {
    path,
    role: 'operator',
    async show(visit) {
      const asked = await readAsked(deps, action, visit, visit.query);
      return asked && actionPage(deps, { action, asked, proposal: await action.propose(asked) });
    },
  });
  addAction(app, deps, {
    path,
    async run(visit, fields) {
      const asked = await readAsked(deps, action, visit, (name) => fieldValue(fields, name));
      if (asked === undefined) return notFoundPage(visit.reader);
      const proposal = await action.propose(asked);
      if (!isNamed(asked) || 'inputs' in proposal) return actionPage(deps, { action, asked, proposal, status: 422 });
      const isDone = proposal.isDone || (await carryOut(deps, asked, proposal));
      const next = action.next?.(asked) ?? companyAddress(asked.entity);
      if (isDone) return next;
      const fresh = await readAsked(deps, action, visit, asked.field);
      if (fresh === undefined) return notFoundPage(visit.reader);
      const again = await action.propose(fresh);
      if ('isDone' in again && again.isDone) return next;
      return actionPage(deps, { action, asked: fresh, proposal: again, status: 409 });
    },
  });
}

export const isNamed = (asked: AskedRecord): asked is NamedRecord => asked.ref !== undefined && asked.crm !== undefined;

/** Undefined if the address names no company, or a record of another company. */
async function readAsked(
  { store, crms }: CompanyDeps,
  { isForLinked }: RecordAction,
  visit: Visit,
  field: AskedRecord['field'],
): Promise<AskedRecord | undefined> {
  const entity = canonicalEntityId(visit.param('entity'));
  if (entity === undefined) return undefined;
  const crm = crms.find(({ name }) => name === field('provider'));
  const read = crm && readRecordId(crm, field('record'));
  const ref = crm && read?.kind === 'id' ? { provider: crm.name, recordId: read.id } : undefined;
  const link = ref && (await findLink(store.db, ref));
  if (isForLinked && (link?.entity !== entity || link.state === 'merged')) return undefined;
  return { visit, entity, ref, crm, link, field };
}

/** Checks in the same transaction that the proposal still holds; false if it does not. */
async function carryOut(deps: CompanyDeps, asked: NamedRecord, { step, seen }: Proposal): Promise<boolean> {
  const { visit, ref, field } = asked;
  const hasConsent = step?.consent === undefined || field('consent') === 'yes';
  if (step === undefined || !hasConsent) return false;
  const still = async (tx: Tx): Promise<boolean> => (await revisionOf(tx, ref, seen, visit.now)) === field('revision');
  const by = { actor: visit.visitor.actor, via: 'page', still } as const;
  try {
    await step.perform({ ...deps, now: () => visit.now }, by);
    return true;
  } catch (error) {
    if (error instanceof Refused && error.kind === 'conflict') return false;
    throw error;
  }
}

/** A digest of the state that a proposal relies on. */
async function revisionOf(db: Db, ref: RecordRef, seen: unknown, now: number): Promise<string> {
  const link = await findLink(db, ref);
  const overrides = (await readOverrides(db, ref.provider, [ref.recordId], now)).get(ref.recordId) ?? [];
  const linked = link && [link.entity, link.state, link.desired, link.send_update, link.observed_at];
  return hash('sha256', JSON.stringify([linked, [...overrides], seen]), 'base64url').slice(0, 22);
}

interface ShownAction {
  readonly action: RecordAction;
  readonly asked: AskedRecord;
  readonly proposal: Proposal | Question;
  /** Why the page is shown again. */
  readonly status?: 409 | 422;
}

async function actionPage({ store }: CompanyDeps, { action, asked, proposal, status }: ShownAction): Promise<PageBody> {
  const { visit, entity, ref, field } = asked;
  const { reader } = visit;
  const name = (await companyNames(store.db, [entity])).get(entity);
  const property = field('property');
  const next = 'inputs' in proposal ? question(asked, action, proposal) : undefined;
  return {
    ...(status !== undefined && { status }),
    title: reader.text(`actionTitle.${action.name}`),
    body: html`<dl class="facts">
        <dt>${reader.text('writes.company')}</dt>
        <dd><a href=${companyAddress(entity)}>${name ?? entity}</a> ${name !== undefined && html`<code class="together">${entity}</code>`}</dd>
        ${ref && html`<dt>${reader.text('writes.record')}</dt><dd>${ref.provider} <code>${ref.recordId}</code></dd>`}
        ${!next && property !== '' && html`<dt>${reader.text('outlook.property')}</dt><dd>${property === '*' ? reader.text('company.allProperties') : html`<code>${property}</code>`}</dd>`}
      </dl>
      ${status === 409 && html`<p class="notice warn" role="alert">${reader.text('action.changed')}</p>`}
      ${next ?? (await proposed(asked, action, proposal, store.db))}`,
  };
}

/** A form that leads to the proposal. */
function question(
  { visit, entity, ref }: AskedRecord,
  action: RecordAction,
  { help, inputs, problem }: Question,
): VNode {
  const { reader } = visit;
  return html`${problem && html`<p class="notice bad" role="alert">${problem}</p>`}
    <p>${help}</p>
    <form action=${actionAddress(entity, action.name, {})} class="narrow form">
      ${action.isForLinked && hidden({ provider: ref?.provider, record: ref?.recordId })} ${inputs}
      <p class="actions">
        <button class="primary">${reader.text('action.preview')}</button>
        <a href=${companyAddress(entity)}>${reader.text('action.cancel')}</a>
      </p>
    </form>`;
}

async function proposed(
  { visit, entity, ref, field }: AskedRecord,
  action: RecordAction,
  proposal: Proposal | Question,
  db: Db,
): Promise<Markup> {
  if ('inputs' in proposal || ref === undefined) return null;
  const { reader, formToken, now } = visit;
  const { effect, step, seen } = proposal;
  const given = KEPT.map((name) => [name, field(name) || undefined] as const);
  const revision = await revisionOf(db, ref, seen, now);
  return html`${effect}
    <form method="post" action=${actionAddress(entity, action.name, {})}>
      ${hidden({ [FORM_TOKEN]: formToken, ...Object.fromEntries(given), revision })} ${noDefaultAnswer()}
      ${step?.consent && html`<p><label class="check"><input type="checkbox" name="consent" value="yes" required /> ${step.consent}</label></p>`}
      <p class="actions">
        ${step && html`<button class="primary">${step.button}</button>`}
        <a href=${companyAddress(entity)}>${reader.text('action.cancel')}</a>
      </p>
    </form>`;
}

/** The fields that the question passes on to the action. */
const KEPT = ['provider', 'record', 'property', 'kind', 'until', 'reason', 'once', 'sendUpdate', 'match'] as const;
