/** The list of deliveries. */
import type { VNode } from 'preact';
import type { Server } from '../../http/server/server.ts';
import { parseEntityId } from '../../protocol/entity-id.ts';
import { type WireOptions, wireNameOf } from '../../protocol/payload.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import {
  countUpTo,
  DELIVERY_STATES,
  type Delivery,
  type DeliveryFilter,
  type DeliveryState,
  type OpenState,
} from '../../service/delivery/deliveries.ts';
import { pageDeliveries } from '../../service/delivery/listing/delivery-page.ts';
import { readDeliveryStatistics } from '../../service/delivery/listing/statistics.ts';
import { monitorNames } from '../../service/monitors/monitor-row.ts';
import type { Db } from '../../store/store.ts';
import {
  type DeliveryTexts,
  deliveriesAddress,
  deliveryTexts,
  isNarrowFilter,
  readDeliveryFilter,
} from '../addresses/deliveries.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { maskName } from '../page/masked.ts';
import { hidden } from '../page/messages.ts';
import { nameList, state, table, textFilter, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import { timeFilter } from '../page/typed-time.ts';
import type { Visit } from '../page/visit.ts';
import { addPage, type ServicePageDeps } from '../routes/routes.ts';
import { successStrip } from './strip.ts';

const SHOWN = 50;

export function addDeliveries(app: Server, deps: ServicePageDeps): void {
  addPage(app, deps, {
    path: '/deliveries',
    async show(visit) {
      const texts = deliveryTexts(visit.query);
      const read = await readDeliveryFilter(deps.store.db, texts, visit.reader);
      if (!read.ok) return unreadableFilter(visit, texts, read);
      const { reader, query } = visit;
      const before = /^\d{1,15}$/.test(query('before')) ? Number(query('before')) : undefined;
      const bounds = before === undefined ? {} : { before };
      const { deliveries, older } = await pageDeliveries(deps.store.db, { ...read.filter, ...bounds }, SHOWN);
      const names = await monitorNames(
        deps.store.db,
        deliveries.map(({ monitor }) => monitor),
      );
      const mayReplay =
        deliveries.length > 0 && includesRole(visit.visitor.role, 'operator') && isNarrowFilter(read.filter);
      return {
        title: reader.text('nav.deliveries'),
        body: html`<p>${reader.text('deliveries.help')}</p>
          ${await stateTabs(deps.store.db, visit, texts, read.filter)}
          ${read.filter.monitor !== undefined && (await stripOf(deps.store.db, visit, read.filter.monitor))}
          ${filterForm(visit, texts)}
          ${mayReplay && html`<form method="post" action="/runs/replay" class="actions">${hidden({ [FORM_TOKEN]: visit.formToken, ...texts })}<button>${reader.text('replay.link')}</button></form>`}
          ${deliveries.length === 0 ? nothing(visit, texts, older) : deliveryTable(visit, deliveries, { names, wire: deps.management.monitorOptions })}
          <p class="actions">
            ${before !== undefined && html`<a href=${deliveriesAddress(texts)}>${reader.text('list.newest')}</a>`}
            ${older !== undefined && html`<a rel="next" href=${deliveriesAddress(texts, { before: String(older) })}>${reader.text('list.older')}</a>`}
          </p>`,
      };
    },
  });
}

/** The most deliveries to count. */
const COUNTED = 1_000;
const OPEN_STATES = ['failing', 'due', 'held', 'failed'] as const satisfies readonly OpenState[];

/** Links to the states that may need action, each with its number of deliveries. */
async function stateTabs(db: Db, { reader }: Visit, texts: DeliveryTexts, filter: DeliveryFilter): Promise<VNode> {
  const counts = await Promise.all(OPEN_STATES.map((state) => countUpTo(db, COUNTED + 1, { ...filter, state })));
  const tab = (name: (typeof OPEN_STATES)[number] | '', words: Markup): VNode =>
    html`<a href=${`${deliveriesAddress({ ...texts, state: name })}#content`} aria-current=${texts.state === name ? 'page' : undefined}>${words}</a>`;
  const amount = (count: number): string =>
    count > COUNTED ? reader.text('deliveries.more', { count: COUNTED }) : reader.number(count);
  return html`<nav class="tabs" aria-label=${reader.text('deliveries.state')}>
    ${OPEN_STATES.map((name, at) => tab(name, html`${reader.text(`delivery.${name}`)} <strong>${amount(counts[at] ?? 0)}</strong>`))}
    ${tab('', reader.text('deliveries.allStates'))}
  </nav>`;
}

const stripOf = async (db: Db, { reader, now }: Visit, monitor: string): Promise<Markup> =>
  successStrip(reader, (await readDeliveryStatistics(db, [monitor], now)).get(monitor));

/** Says which text of the filter is unreadable, or which monitors have the name. */
const unreadableFilter = (
  visit: Visit,
  texts: DeliveryTexts,
  { value, several = [] }: { readonly value: string; readonly several?: readonly string[] },
): PageBody => ({
  status: 422,
  title: visit.reader.text('nav.deliveries'),
  body: html`${
    several.length === 0
      ? html`<p class="notice bad" role="alert">${visit.reader.text('deliveries.unreadable', { value })}</p>`
      : html`<p role="alert">${visit.reader.text('deliveries.several', { name: value })}</p>
          <ul>
            ${several.map((monitor) => html`<li><a href=${deliveriesAddress({ ...texts, monitor })}><code>${monitor}</code></a></li>`)}
          </ul>`
  }
    ${filterForm(visit, texts)}`,
});

function filterForm({ reader }: Visit, texts: DeliveryTexts): VNode {
  const fieldOf = (name: 'monitor' | 'entity' | 'since' | 'until') => ({
    name,
    label: reader.text(`deliveries.${name}`),
    value: texts[name],
  });
  return html`<form class="filters" action="/deliveries">
    ${(['monitor', 'entity'] as const).map((name) => textFilter(fieldOf(name)))}
    ${(['since', 'until'] as const).map((name) => timeFilter(reader, fieldOf(name)))}
    <div>
      <label for="state">${reader.text('deliveries.state')}</label>
      <select id="state" name="state">
        <option value="">${reader.text('deliveries.anyState')}</option>
        ${DELIVERY_STATES.map(
          (each) =>
            html`<option value=${each} selected=${texts.state === each}>${reader.text(`delivery.${each}`)}</option>`,
        )}
      </select>
    </div>
    <button>${reader.text('list.filter')}</button>
    <a href="/deliveries">${reader.text('list.all')}</a>
  </form>`;
}

function nothing({ reader }: Visit, texts: DeliveryTexts, older: number | undefined): Markup {
  if (older !== undefined) return html`<p>${reader.text('deliveries.goOn')}</p>`;
  const isWhole = deliveriesAddress(texts) === '/deliveries';
  return html`<p>${reader.text(isWhole ? 'deliveries.empty' : 'deliveries.noMatch')}</p>`;
}

const DELIVERY_SIGNS = {
  due: 'idle',
  failing: 'bad',
  held: 'warn',
  done: 'ok',
  failed: 'bad',
  dropped: 'idle',
} as const;

export const deliveryState = (reader: Reader, named: DeliveryState): VNode =>
  state(DELIVERY_SIGNS[named], reader.text(`delivery.${named}`));

/** The name of a delivery's entity, if the role may see it. */
export const deliveryName = ({ visitor }: Visit, { entity, name }: Pick<Delivery, 'entity' | 'name'>): string =>
  !visitor.seesPersons && parseEntityId(entity)?.kind === 'person' ? maskName(name) : name;

/** The name of a monitor; of a removed one, the beginning of its id. */
export const monitorName = (names: ReadonlyMap<string, string>, id: string): Markup =>
  names.get(id) ?? html`<code title=${id}>${id.slice(0, 8)}</code>`;

function deliveryTable(
  visit: Visit,
  deliveries: readonly Delivery[],
  { names, wire }: { readonly names: ReadonlyMap<string, string>; readonly wire: WireOptions },
): VNode {
  const { reader } = visit;
  const columns = ['number', 'made', 'monitor', 'about', 'events', 'state', 'attempts', 'answer'] as const;
  return table({
    label: reader.text('nav.deliveries'),
    columns: columns.map((column) => reader.text(`deliveries.${column}`)),
    numeric: [6],
    rows: deliveries.map((delivery) => [
      html`<a href=${`/deliveries/${delivery.seq}#content`}>${String(delivery.seq)}</a>`,
      timeOf(reader, delivery.createdAt),
      html`<a href=${deliveriesAddress({ monitor: delivery.monitor })}>${monitorName(names, delivery.monitor)}</a>`,
      html`<div class="wide">${deliveryName(visit, delivery)} <code>${delivery.entity}</code></div>`,
      nameList(
        reader,
        delivery.events.map((event) => wireNameOf(event, wire)),
      ),
      deliveryState(reader, delivery.state),
      reader.number(delivery.attempts),
      delivery.error === null ? delivery.status : said(reader, delivery.error),
    ]),
  });
}
