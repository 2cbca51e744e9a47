/** Tests a monitor's webhook with the state of a company, or with a payload that somebody writes. */
import type { Server } from '../../http/server/server.ts';
import type { Refused } from '../../operations/definition/operation.ts';
import { testMonitor } from '../../operations/service/monitor-test.ts';
import { readDeliveryBody } from '../../service/delivery/bodies.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { getMonitor } from '../../service/monitors/monitors.ts';
import type { TestResult } from '../../service/test-webhook/test-webhook.ts';
import { PAYLOAD_FORM } from '../access/forms.ts';
import { monitorAddress } from '../addresses/addresses.ts';
import { confirmationPage } from '../page/confirmation.ts';
import { fieldValue } from '../page/fields.ts';
import { html } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { messagePage, notFoundPage } from '../page/messages.ts';
import { state } from '../page/parts.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addPage, type ServicePageDeps } from '../routes/routes.ts';
import { unreadable } from './items.ts';

export function addMonitorTest(app: Server, deps: ServicePageDeps): void {
  const { store, management } = deps;
  const path = '/monitors/:id/test';
  addPage(app, deps, {
    path,
    role: 'admin',
    async show(visit) {
      const monitor = await getMonitor(store.db, management.secrets, visit.param('id'));
      return monitor && askPage(visit, monitor, { payload: await payloadOf(deps, visit.query('delivery')) });
    },
  });
  addForm(app, deps, testMonitor, {
    path,
    form: PAYLOAD_FORM,
    input({ param }, fields) {
      const [payload = '', entityId = ''] = ['payload', 'entity'].map((name) => fieldValue(fields, name).trim());
      return { id: param('id'), ...(payload !== '' ? { payload } : entityId !== '' && { entityId }) };
    },
    next: (visit, { monitor, ...result }) => resultPage(visit, monitor, result),
    refused: (visit, refusal, fields) => refusedPage(deps, visit, refusal, fieldValue(fields, 'payload').trim()),
  });
}

async function refusedPage(
  { store, management }: ServicePageDeps,
  visit: Visit,
  { code, issues: [issue] }: Refused,
  payload: string,
): Promise<PageBody> {
  const { reader, param } = visit;
  if (isNotPosted(code))
    return messagePage(reader, { status: 422, title: reader.text('test.none'), help: reader.text(`test.${code}`) });
  const monitor = await getMonitor(store.db, management.secrets, param('id'));
  if (monitor === undefined) return notFoundPage(reader);
  return issue?.path === '/payload' ? askPage(visit, monitor, { payload, problem: issue.message }) : unreadable(visit);
}

const NOT_POSTED = ['no-webhook', 'elsewhere', 'unknown-entity'] as const;
const isNotPosted = (code: string | undefined): code is (typeof NOT_POSTED)[number] =>
  NOT_POSTED.some((each) => each === code);

/** The payload of a delivery, to be edited; empty if none is named. */
async function payloadOf({ store, management }: ServicePageDeps, delivery: string): Promise<string> {
  if (!/^\d{1,15}$/.test(delivery)) return '';
  const body = await readDeliveryBody(store.db, Number(delivery), management.monitorOptions);
  return body === undefined ? '' : JSON.stringify(JSON.parse(body.bytes.toString()), null, 2);
}

function askPage(
  visit: Visit,
  { id, name }: Monitor,
  { payload, problem }: { readonly payload: string; readonly problem?: string },
): PageBody {
  const { reader } = visit;
  const address = monitorAddress(id);
  const page = confirmationPage(visit, {
    title: reader.text('stepTitle.test', { name }),
    help: html`<p>${reader.text('stepHelp.test')}</p>
      ${problem !== undefined && html`<p class="notice bad" role="alert">${said(reader, problem)}</p>`}
      <div class="stacked">
        <div>
          <label for="entity">${reader.text('test.entity')}</label>
          <input id="entity" name="entity" autocomplete="off" />
        </div>
        <div>
          <label for="payload">${reader.text('test.payload')}</label>
          <textarea id="payload" name="payload" rows=${payload === '' ? 3 : 20} spellcheck="false">${payload}</textarea>
        </div>
      </div>`,
    action: `${address}/test`,
    submit: reader.text('stepSubmit.test'),
    back: address,
  });
  return problem === undefined ? page : { ...page, status: 422 };
}

function resultPage(
  { reader }: Visit,
  { id, name }: Monitor,
  { failure, status, took, message, answer }: TestResult,
): PageBody {
  const isTaken = failure === null;
  return {
    title: reader.text('stepTitle.test', { name }),
    body: html`<div class=${`notice ${isTaken ? 'ok' : 'bad'}`} role="status">
        <p>${state(isTaken ? 'ok' : 'bad', html`<strong>${reader.text(isTaken ? 'test.taken' : 'test.failed')}</strong>`)}</p>
        ${!isTaken && html`<p>${said(reader, message)}</p>`}
      </div>
      <dl class="facts">
        ${status !== null && html`<dt>${reader.text('attempt.result')}</dt><dd>${String(status)}</dd>`}
        <dt>${reader.text('attempt.took')}</dt><dd>${reader.latency(took)}</dd>
        ${answer !== '' && html`<dt>${reader.text('attempt.body')}</dt><dd><pre class="payload" tabindex="0">${answer}</pre></dd>`}
      </dl>
      <p class="actions">
        <a href=${`${monitorAddress(id)}/test`}>${reader.text('test.again')}</a>
        <a href=${monitorAddress(id)}>${reader.text('monitor.toPage')}</a>
      </p>`,
  };
}
