/** A test of a monitor's webhook: with the state of a company, or with a payload that somebody writes or edits. */
import type { Server } from '../../http/server/server.ts';
import { readPayload } from '../../protocol/payload.ts';
import { readJson } from '../../protocol/text/json.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { readDeliveryBody } from '../../service/delivery/bodies.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { getMonitor } from '../../service/monitors/monitors.ts';
import type { TestContent } from '../../service/test-webhook/test-monitor.ts';
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
import { addAction, addPage, type ServicePageDeps } from '../routes/routes.ts';
import { entityOf, unreadable } from './items.ts';

/** Adds the page that asks what to send, and the action that sends it. */
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
  addAction(app, deps, {
    path,
    form: PAYLOAD_FORM,
    role: 'admin',
    async run(visit, fields) {
      const monitor = await getMonitor(store.db, management.secrets, visit.param('id'));
      if (monitor === undefined) return notFoundPage(visit.reader);
      const [payload = '', asked = ''] = ['payload', 'entity'].map((name) => fieldValue(fields, name).trim());
      if (payload === '' && asked !== '' && entityOf(asked) === undefined) return unreadable(visit);
      const problem = payload === '' ? undefined : problemOf(deps, payload);
      if (problem !== undefined) return askPage(visit, monitor, { payload, problem });
      return send(deps, visit, monitor, payload === '' ? { entity: entityOf(asked) } : { body: payload });
    },
  });
}

async function send(
  { store, management }: ServicePageDeps,
  visit: Visit,
  monitor: Monitor,
  content: TestContent,
): Promise<PageBody> {
  const { reader, visitor, now } = visit;
  const test = await management.testMonitor(monitor, content);
  if (test.kind !== 'posted')
    return messagePage(reader, {
      status: 422,
      title: reader.text('test.none'),
      help: reader.text(`test.${test.kind}`),
    });
  const { failure, message } = test.result;
  const entry = { actor: visitor.actor, via: 'page', action: 'monitor.test', subject: monitor.id } as const;
  const detail = content.body === undefined ? undefined : { payload: 'written by hand' };
  const result = failure === null ? message : `${failure}: ${message}`.slice(0, 500);
  await store.write((tx) => recordAudit(tx, { ...entry, detail, result }, now));
  return resultPage(visit, monitor, test.result);
}

/** The payload of a delivery, to be edited; empty where none is named. */
async function payloadOf({ store, management }: ServicePageDeps, delivery: string): Promise<string> {
  if (!/^\d{1,15}$/.test(delivery)) return '';
  const body = await readDeliveryBody(store.db, Number(delivery), management.monitorOptions);
  return body === undefined ? '' : JSON.stringify(JSON.parse(body), null, 2);
}

/** Why a receiver could not read it; undefined where it can. */
function problemOf({ management }: ServicePageDeps, payload: string): string | undefined {
  const json = readJson(Buffer.from(payload));
  if (!json.ok) return json.reason;
  const read = readPayload(json.value, management.monitorOptions);
  return read.ok ? undefined : read.errors.map(({ path, message }) => `${path} ${message}`).join('; ');
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
