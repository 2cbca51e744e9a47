/** The lists of monitors and of third-party jobs: the state and recipients of each. */
import type { VNode } from 'preact';
import type { Server } from '../../http/server/server.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { type DeliveryStatistics, readDeliveryStatistics } from '../../service/delivery/listing/statistics.ts';
import { countItems, MOST_COUNTED_ITEMS } from '../../service/items/items.ts';
import { countStoppedMails } from '../../service/mail/stopped-mails.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { listMonitors } from '../../service/monitors/monitors.ts';
import { monitorAddress } from '../addresses/addresses.ts';
import { html, type Markup } from '../page/html.ts';
import { table, textFilter } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import type { Visit } from '../page/visit.ts';
import { addPage, type ServicePageDeps } from '../routes/routes.ts';
import { monitorState, shownWebhook } from './shown.ts';

const SHOWN = 25;
/** The deliveries of each monitor for its share and latency. */
const SAMPLE = 100;
const STATES = ['on', 'off'] as const;

export type MonitorKind = 'monitors' | 'jobs';

export function addMonitorLists(app: Server, deps: ServicePageDeps): void {
  for (const kind of ['monitors', 'jobs'] as const)
    addPage(app, deps, {
      path: `/${kind}`,
      show: async (visit) => ({
        title: visit.reader.text(`nav.${kind}`),
        body: html`${monitorTabs(visit.reader, kind)}
          <p>${visit.reader.text(`listHelp.${kind}`)}</p>
          ${await list(deps, visit, kind)}`,
      }),
    });
}

export const monitorTabs = (
  reader: Reader,
  current: MonitorKind | 'keys',
): VNode => html`<nav class="tabs" aria-label=${reader.text('nav.monitors')}>
  ${(['monitors', 'jobs', 'keys'] as const).map(
    (name) =>
      html`<a href=${`/${name}`} aria-current=${name === current ? 'page' : undefined}>${reader.text(`nav.${name}`)}</a>`,
  )}
</nav>`;

async function list({ store, management }: ServicePageDeps, visit: Visit, kind: MonitorKind): Promise<Markup> {
  const { reader, visitor, query, now } = visit;
  const { db } = store;
  const chosen = STATES.find((each) => each === query('state'));
  const after = query('after').slice(0, 64) || undefined;
  const name = query('name').trim().slice(0, 200) || undefined;
  const filter = { job: kind === 'jobs', name, after, limit: SHOWN + 1, ...(chosen && { enabled: chosen === 'on' }) };
  const found = await listMonitors(db, management.secrets, filter);
  const shown = found.slice(0, SHOWN);
  const ids = shown.map(({ id }) => id);
  const figures = {
    deliveries: await readDeliveryStatistics(db, ids, now, SAMPLE),
    stopped: await countStoppedMails(db, ids),
    items: await countItems(db, ids),
  };
  const last = found.length > SHOWN ? shown.at(-1) : undefined;
  const address = (more: Readonly<Record<string, string>>) => {
    const pairs = Object.entries({ ...(name !== undefined && { name }), ...(chosen && { state: chosen }), ...more });
    return pairs.length === 0 ? `/${kind}` : `/${kind}?${new URLSearchParams(pairs)}`;
  };
  const isWhole = chosen === undefined && name === undefined && after === undefined;
  return html`${includesRole(visitor.role, 'admin') && html`<p><a class="button" href=${`/${kind}/new`}>${reader.text(`listCreate.${kind}`)}</a></p>`}
    ${(shown.length > 0 || !isWhole) && filterForm(visit, kind)}
    ${
      shown.length === 0
        ? html`<p>${reader.text(isWhole ? `listEmpty.${kind}` : 'monitors.noMatch')}</p>`
        : monitorTable(visit, kind, shown, figures)
    }
    <p class="actions">
      ${after !== undefined && html`<a href=${address({})}>${reader.text('monitors.first')}</a>`}
      ${last && html`<a rel="next" href=${address({ after: last.id })}>${reader.text('monitors.next')}</a>`}
    </p>`;
}

function filterForm({ reader, query }: Visit, kind: MonitorKind): VNode {
  return html`<form class="filters" action=${`/${kind}`}>
    ${textFilter({ name: 'name', label: reader.text('monitors.name'), value: query('name') })}
    <div>
      <label for="state">${reader.text('monitors.state')}</label>
      <select id="state" name="state">
        <option value="">${reader.text('monitors.anyState')}</option>
        ${STATES.map(
          (each) =>
            html`<option value=${each} selected=${query('state') === each}>${reader.text(`monitor.${each}`)}</option>`,
        )}
      </select>
    </div>
    <button>${reader.text('list.filter')}</button>
  </form>`;
}

interface Figures {
  readonly deliveries: ReadonlyMap<string, DeliveryStatistics>;
  readonly stopped: ReadonlyMap<string, number>;
  readonly items: ReadonlyMap<string, number>;
}

function monitorTable(visit: Visit, kind: MonitorKind, monitors: readonly Monitor[], figures: Figures): VNode {
  const { reader } = visit;
  const columns = [
    'name',
    'state',
    ...(kind === 'jobs' ? (['provider'] as const) : []),
    'watches',
    'webhook',
    'success',
    'latency',
    'mails',
  ] as const;
  return table({
    label: reader.text(`nav.${kind}`),
    columns: columns.map((column) => reader.text(`monitors.${column}`)),
    numeric: kind === 'jobs' ? [5, 6] : [4, 5],
    rows: monitors.map((monitor) => {
      const { id, name, provider, url, emails } = monitor;
      const statistics = figures.deliveries.get(id);
      return [
        html`<div class="wide"><a href=${monitorAddress(id)}>${name}</a></div>`,
        monitorState(visit, monitor),
        ...(kind === 'jobs' ? [provider] : []),
        watched(reader, monitor, figures.items.get(id) ?? 0),
        url !== null && html`<span title=${shownWebhook(visit, url)}>${new URL(url).host}</span>`,
        successOf(reader, statistics),
        statistics?.latency && reader.latency(statistics.latency.median),
        recipients(reader, emails.length, figures.stopped.get(id) ?? 0),
      ];
    }),
  });
}

/** What a monitor watches, in words. */
export const watched = (reader: Reader, { target }: Pick<Monitor, 'target'>, items: number): string => {
  if (target === 'all') return reader.text('monitors.everything');
  return items > MOST_COUNTED_ITEMS
    ? reader.text('monitors.manyItems', { limit: MOST_COUNTED_ITEMS })
    : reader.text('monitors.items', { count: items });
};

/** The share of deliveries that arrived; nothing without attempts. */
export const successOf = (reader: Reader, statistics: DeliveryStatistics | undefined): string | null =>
  statistics === undefined || statistics.tried === 0
    ? null
    : reader.text('monitors.share', {
        share: reader.share(statistics.delivered / statistics.tried),
        count: statistics.tried,
      });

const recipients = (reader: Reader, count: number, stopped: number): Markup =>
  count + stopped > 0 &&
  html`${reader.number(count)}${stopped > 0 && html` <span class="quiet">${reader.text('monitors.stopped', { count: stopped })}</span>`}`;
