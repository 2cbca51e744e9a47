/** One monitor or job: settings, deliveries, recipients, and items. */
import type { VNode } from 'preact';
import type { Server } from '../../http/server/server.ts';
import { type WireOptions, wireNameOf } from '../../protocol/payload.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { type DeliveryStatistics, readDeliveryStatistics } from '../../service/delivery/listing/statistics.ts';
import { isOwnJob } from '../../service/delivery/own-jobs.ts';
import { countItems } from '../../service/items/items.ts';
import { sameAddress } from '../../service/mail/address.ts';
import { readStoppedMails, type StoppedMail } from '../../service/mail/stopped-mails.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { getMonitor } from '../../service/monitors/monitors.ts';
import { monitorAddress } from '../addresses/addresses.ts';
import { deliveriesAddress } from '../addresses/deliveries.ts';
import { successStrip } from '../deliveries/strip.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { state, table, timeOf } from '../page/parts.ts';
import { timeFilter } from '../page/typed-time.ts';
import type { Visit } from '../page/visit.ts';
import { addPage, type ServicePageDeps } from '../routes/routes.ts';
import { itemSection } from './items.ts';
import { successOf, watched } from './list.ts';
import { monitorState, shownWebhook } from './shown.ts';

export function addMonitorPage(app: Server, deps: ServicePageDeps): void {
  addPage(app, deps, {
    path: '/monitors/:id',
    async show(visit) {
      const monitor = await getMonitor(deps.store.db, deps.management.secrets, visit.param('id'));
      return monitor && monitorPage(deps, visit, monitor);
    },
  });
}

async function monitorPage(deps: ServicePageDeps, visit: Visit, monitor: Monitor): Promise<PageBody> {
  const { reader, now } = visit;
  const { db } = deps.store;
  const { id } = monitor;
  const items = (await countItems(db, [id])).get(id) ?? 0;
  const statistics = (await readDeliveryStatistics(db, [id], now)).get(id);
  const stopped = await readStoppedMails(db, id);
  return {
    title: monitor.name,
    body: html`${isOwnJob(monitor) && html`<p class="notice">${reader.text('monitor.own')}</p>`}
      ${settings(visit, monitor, watched(reader, monitor, items), deps.management.monitorOptions)} ${actions(visit, monitor)}
      <h2>${reader.text('trends.hour')}</h2>
      ${day(visit, monitor, statistics)}
      ${recipientSection(visit, monitor, stopped)}
      ${monitor.target === 'items' && (await itemSection(deps, visit, monitor))}`,
  };
}

function settings(visit: Visit, monitor: Monitor, watches: string, wire: WireOptions): VNode {
  const { reader, now } = visit;
  const { id, provider, owner, events, url, schedule, postsPerMinute, security, createdAt } = monitor;
  const fact = (label: string, value: Markup): Markup => html`<dt>${label}</dt><dd>${value}</dd>`;
  const { credentials, secrets } = security;
  const named = 'key' in credentials ? ` ${credentials.key}` : '';
  const old = secrets.find(({ expiresAt }) => expiresAt !== null && expiresAt > now)?.expiresAt;
  return html`<dl class="facts">
    ${fact(reader.text('monitors.state'), monitorState(visit, monitor))}
    ${fact('Id', html`<code>${id}</code>`)}
    ${provider !== null && fact(reader.text('monitors.provider'), provider)}
    ${owner !== null && fact(reader.text('form.owner'), html`<code>${owner}</code>`)}
    ${fact(reader.text('monitors.watches'), watches)}
    ${fact(reader.text('form.events'), events === null ? reader.text('form.allEvents') : html`<span lang="en">${events.map((event) => wireNameOf(event, wire)).join(', ')}</span>`)}
    ${fact(reader.text('monitors.webhook'), shownWebhook(visit, url) ?? reader.text('monitor.noWebhook'))}
    ${
      url !== null &&
      html`${fact(reader.text('form.credentials'), `${reader.text(`option.${credentials.method}`)}${named}`)}
      ${fact(reader.text('monitor.secret'), old ? html`${reader.text('monitor.twoSecrets')} ${timeOf(reader, old)}` : reader.text('monitor.oneSecret'))}
      ${fact(reader.text('form.schedule'), schedule?.join(', ') ?? reader.text('monitor.usualSchedule'))}
      ${fact(reader.text('form.postsPerMinute'), postsPerMinute === null ? reader.text('monitor.noLimit') : reader.number(postsPerMinute))}`
    }
    ${fact(reader.text('monitor.created'), timeOf(reader, createdAt))}
  </dl>`;
}

function actions({ reader, visitor, formToken }: Visit, { id, url, enabled, provider }: Monitor): Markup {
  if (!includesRole(visitor.role, 'admin')) return null;
  const address = monitorAddress(id);
  const steps = [
    'edit',
    ...(url === null ? [] : (['test', 'rotate'] as const)),
    ...(enabled ? (['disable'] as const) : []),
    ...(provider === null ? [] : (['move'] as const)),
    'remove',
  ] as const;
  return html`<div class="actions">
    ${
      !enabled &&
      html`<form class="actions" method="post" action=${`${address}/activate`}>
        ${hidden({ [FORM_TOKEN]: formToken })}
        <button>${reader.text('step.activate')}</button>
        ${url !== null && html`<button name="replay" value="yes">${reader.text('step.replay')}</button>`}
      </form>`
    }
    ${steps.map((step) => html`<a class="button" href=${`${address}/${step}`}>${reader.text(`step.${step}`)}</a>`)}
  </div>`;
}

/** Links to the replay of what did not arrive since a time. */
const recoverForm = ({ reader, visitor, formToken }: Visit, monitor: string): Markup =>
  includesRole(visitor.role, 'operator') &&
  html`<form class="filters" method="post" action="/runs/replay">
    ${hidden({ [FORM_TOKEN]: formToken, monitor })} ${timeFilter(reader, { name: 'since', label: reader.text('recover.since'), value: '' })}
    <button>${reader.text('recover.submit')}</button>
  </form>`;

function day(visit: Visit, { id, url }: Monitor, statistics: DeliveryStatistics | undefined): Markup {
  const { reader } = visit;
  const link = html`<p class="actions">
      <a href=${deliveriesAddress({ monitor: id })}>${reader.text('monitor.deliveries')}</a>
      <a href=${deliveriesAddress({ monitor: id, state: 'failing' })}>${reader.text('monitor.failingDeliveries')}</a>
    </p>
    ${recoverForm(visit, id)}`;
  if (url === null) return html`<p class="quiet">${reader.text('monitor.noWebhook')}</p>`;
  if (statistics === undefined || statistics.tried === 0)
    return html`<p class="quiet">${reader.text('monitor.noDeliveries')}</p> ${link}`;
  const { latency, isSample, tried } = statistics;
  const figures = [
    [reader.text('monitors.success'), successOf(reader, statistics)],
    [reader.text('monitors.latency'), latency && reader.latency(latency.median)],
    [reader.text('monitor.slow'), latency && reader.latency(latency.slow)],
  ] as const;
  return html`<dl class="figures">
      ${figures.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value ?? '–'}</dd></div>`)}
    </dl>
    ${isSample && html`<p class="quiet">${reader.text('monitor.sample', { count: tried })}</p>`}
    ${successStrip(reader, statistics)} ${link}`;
}

/** Everybody who gets mail, or whose mail has ended. */
function recipientSection(visit: Visit, monitor: Monitor, stopped: readonly StoppedMail[]): Markup {
  const { reader } = visit;
  const ended = new Map(stopped.map((each) => [each.recipient, each]));
  const listed = new Set(monitor.emails.map(sameAddress));
  const rows = [
    ...monitor.emails.map((email) => ({ email, end: ended.get(sameAddress(email)), isListed: true })),
    ...stopped
      .filter(({ recipient }) => !listed.has(recipient))
      .map((end) => ({ email: end.recipient, end, isListed: false })),
  ];
  if (rows.length === 0) return null;
  const columns = ['recipient', 'state', 'action'] as const;
  return html`<h2>${reader.text('monitor.recipients')}</h2>
    <p class="quiet">${reader.text(`frequency.${monitor.mailFrequency}`)}</p>
    ${table({
      label: reader.text('monitor.recipients'),
      columns: columns.map((column) => reader.text(`recipients.${column}`)),
      rows: rows.map(({ email, end, isListed }) => [
        email,
        html`${recipientState(visit, end)}${!isListed && html`<div class="quiet">${reader.text('recipients.notListed')}</div>`}`,
        end && resumeForm(visit, monitor, email),
      ]),
    })}`;
}

function recipientState({ reader, visitor, now }: Visit, end: StoppedMail | undefined): Markup {
  if (end === undefined) return state('ok', reader.text('recipients.on'));
  const at = html` <span class="quiet">${timeOf(reader, end.at, now)}</span>`;
  if (end.bounced === null) return html`${state('idle', reader.text('recipients.unsubscribed'))}${at}`;
  // A mail server names the address in its answer.
  const why = visitor.seesPersons && html`<div class="quiet" lang="en">${end.bounced}</div>`;
  const next =
    end.retryAt !== null &&
    html`<div class="quiet">${reader.text('recipients.retry')} ${timeOf(reader, end.retryAt, now)}</div>`;
  return html`${state('bad', reader.text('recipients.bounced'))}${at}${why}${next}`;
}

const resumeForm = ({ reader, visitor, formToken }: Visit, { id }: Monitor, email: string): Markup =>
  includesRole(visitor.role, 'admin') &&
  html`<form method="post" action=${`${monitorAddress(id)}/resubscribe`}>
    ${hidden({ [FORM_TOKEN]: formToken, recipient: email })}
    <button aria-label=${`${reader.text('recipients.resume')}: ${email}`}>${reader.text('recipients.resume')}</button>
  </form>`;
