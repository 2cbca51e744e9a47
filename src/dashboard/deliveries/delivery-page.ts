/** One delivery: its payload, its attempts, and the action that sends it again. */
import type { VNode } from 'preact';
import type { Server } from '../../http/server/server.ts';
import { deliveryVersion, sendDelivery } from '../../operations/service/deliveries.ts';
import { wireNameOf } from '../../protocol/payload.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { type DeliveryBody, readDeliveryBody } from '../../service/delivery/bodies.ts';
import { type Attempt, attemptsOf, type Delivery, listDeliveries } from '../../service/delivery/deliveries.ts';
import { monitorNames } from '../../service/monitors/monitor-row.ts';
import { getMonitor } from '../../service/monitors/monitors.ts';
import type { Db } from '../../store/store.ts';
import { monitorAddress } from '../addresses/addresses.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, messagePage, notFoundPage } from '../page/messages.ts';
import { brief, state, table, timeOf } from '../page/parts.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addPage, type ServicePageDeps } from '../routes/routes.ts';
import { deliveryName, deliveryState, monitorName } from './deliveries-page.ts';
import { changedFields, exchange } from './exchange.ts';

export function addDelivery(app: Server, deps: ServicePageDeps): void {
  const { store } = deps;
  addPage(app, deps, {
    path: '/deliveries/:seq',
    async show(visit) {
      const delivery = await readDelivery(store.db, visit.param('seq'));
      return delivery && deliveryPage(deps, visit, delivery);
    },
  });
  addForm(app, deps, sendDelivery, {
    path: '/deliveries/:seq/resend',
    // The form says what the person saw: sent twice, it finds the delivery changed and does nothing.
    caller: (fields) => ({ seen: fieldValue(fields, 'seen') }),
    next({ reader }, { seq, result }) {
      if (result === 'unknown') return notFoundPage(reader);
      if (result !== 'off') return `/deliveries/${seq}`;
      return messagePage(reader, {
        status: 409,
        title: reader.text('resend.off'),
        help: reader.text('resend.offHelp'),
      });
    },
  });
}

const readDelivery = async (db: Db, seq: string): Promise<Delivery | undefined> =>
  /^\d{1,15}$/.test(seq) ? (await listDeliveries(db, { seq: Number(seq), limit: 1 }))[0] : undefined;

async function deliveryPage(deps: ServicePageDeps, visit: Visit, delivery: Delivery): Promise<PageBody> {
  const { reader, visitor, query } = visit;
  const { store, management } = deps;
  const { db } = store;
  const { seq, monitor: id } = delivery;
  const attempts = (await attemptsOf(db, seq)).toReversed();
  const chosen = attempts.find(({ number }) => String(number) === query('attempt')) ?? attempts[0];
  const monitor = await getMonitor(db, management.secrets, id);
  const names = await monitorNames(db, [id]);
  const events = delivery.events.map((event) => wireNameOf(event, management.monitorOptions));
  const body = visitor.seesPersons ? await readDeliveryBody(db, seq, management.monitorOptions) : undefined;
  return {
    title: reader.text('delivery.title', { number: String(seq) }),
    body: html`${resendForm(visit, delivery)} ${summary(visit, { ...delivery, events }, monitorName(names, id))}
      ${body && changedFields(reader, body, management.monitorOptions)}
      <h2>${reader.text('delivery.attempts')}</h2>
      ${attempts.length === 0 ? html`<p>${reader.text('delivery.noAttempts')}</p>` : attemptTable(visit, delivery, attempts)}
      ${chosen && visitor.seesPersons && exchange(reader, chosen, { body, id, security: monitor?.security })}
      <h2>${reader.text('delivery.payload')}</h2>
      ${payload(visit, { seq, body, monitor: monitor?.id })}`,
  };
}

interface ShownPayload {
  readonly seq: number;
  readonly body: DeliveryBody | undefined;
  /** Undefined if it was removed. */
  readonly monitor: string | undefined;
}

function payload({ reader, visitor }: Visit, { seq, body, monitor }: ShownPayload): Markup {
  if (body === undefined)
    return html`<p>${reader.text(visitor.seesPersons ? 'delivery.noPayload' : 'delivery.hidden')}</p>`;
  const json = JSON.stringify(JSON.parse(body.bytes.toString()), null, 2);
  return html`<details>
      <summary>${reader.text('delivery.raw')}</summary>
      <pre class="payload" tabindex="0">${json}</pre>
    </details>
    ${
      monitor !== undefined &&
      includesRole(visitor.role, 'admin') &&
      html`<p><a href=${`${monitorAddress(monitor)}/test?delivery=${seq}`}>${reader.text('resend.edit')}</a></p>`
    }`;
}

function summary(visit: Visit, delivery: Delivery, named: Markup): VNode {
  const { reader } = visit;
  const { entity, monitor, status, error, createdAt, endedAt, nextAt } = delivery;
  const fact = (label: string, value: Markup): Markup => html`<dt>${label}</dt><dd>${value}</dd>`;
  return html`<dl class="facts">
    ${fact(reader.text('deliveries.state'), deliveryState(reader, delivery.state))}
    ${fact(reader.text('deliveries.about'), html`${deliveryName(visit, delivery)} <code>${entity}</code>`)}
    ${fact(reader.text('deliveries.monitor'), html`<a href=${monitorAddress(monitor)}>${named}</a> <code>${monitor}</code>`)}
    ${fact(reader.text('deliveries.events'), delivery.events.join(', '))}
    ${fact(reader.text('deliveries.made'), timeOf(reader, createdAt))}
    ${fact(reader.text('deliveries.attempts'), reader.number(delivery.attempts))}
    ${status !== null && fact(reader.text('deliveries.answer'), String(status))}
    ${error !== null && fact(reader.text('delivery.error'), said(reader, error))}
    ${nextAt !== null && fact(reader.text('delivery.next'), timeOf(reader, nextAt))}
    ${endedAt !== null && fact(reader.text('delivery.ended'), timeOf(reader, endedAt))}
  </dl>`;
}

function resendForm({ reader, visitor, formToken }: Visit, delivery: Delivery): Markup {
  if (!includesRole(visitor.role, 'operator') || delivery.state === 'due') return null;
  return html`<form method="post" action=${`/deliveries/${delivery.seq}/resend`} class="actions">
    ${hidden({ [FORM_TOKEN]: formToken, seen: deliveryVersion(delivery) })}
    <button>${reader.text(delivery.state === 'failing' ? 'resend.now' : 'resend.submit')}</button>
    <span class="quiet">${reader.text('resend.help')}</span>
  </form>`;
}

/** All attempts, newest first, with links to their requests and answers. */
function attemptTable({ reader, visitor }: Visit, { seq }: Delivery, attempts: readonly Attempt[]): VNode {
  const columns = ['number', 'at', 'took', 'result', 'fault', 'body'] as const;
  return table({
    label: reader.text('delivery.attempts'),
    columns: columns.map((column) => reader.text(`attempt.${column}`)),
    numeric: [0],
    rows: attempts.map(({ number, at, took, status, fault, answer, done }) => [
      visitor.seesPersons
        ? html`<a href=${`/deliveries/${seq}?attempt=${number}#attempt`}>${reader.number(number)}</a>`
        : reader.number(number),
      timeOf(reader, at),
      `${reader.number(took)} ms`,
      state(done ? 'ok' : 'bad', status === null ? reader.text('attempt.none') : String(status)),
      said(reader, fault),
      // A receiver may echo the request.
      !visitor.seesPersons ? reader.text('attempt.hidden') : answer && html`<div class="wide">${brief(answer)}</div>`,
    ]),
  });
}
