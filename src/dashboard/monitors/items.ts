/** The items of a monitor, page by page, and the actions that add and remove one. */
import type { Server } from '../../http/server/server.ts';
import type { Refused } from '../../operations/definition/operation.ts';
import { addItem, removeItem } from '../../operations/service/items.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { type Item, pageItems } from '../../service/items/items.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { getMonitor } from '../../service/monitors/monitors.ts';
import { readNames } from '../../service/register/watch/snapshots.ts';
import { monitorAddress } from '../addresses/addresses.ts';
import { deliveryName } from '../deliveries/deliveries-page.ts';
import { confirmationPage } from '../page/confirmation.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, messagePage } from '../page/messages.ts';
import { table, timeOf } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addPage, type ServicePageDeps } from '../routes/routes.ts';

const SHOWN = 50;

export async function itemSection(deps: ServicePageDeps, visit: Visit, monitor: Monitor): Promise<Markup> {
  const { reader, query } = visit;
  const { store, management } = deps;
  const token = query('token') || undefined;
  const page = await pageItems(store.db, management.secrets, { monitor: monitor.id, take: SHOWN, token });
  const { items, continuationToken } = page.ok ? page : { items: [], continuationToken: undefined };
  const address = monitorAddress(monitor.id);
  const names = await readNames(
    store.db,
    items.map(({ entity }) => entity),
  );
  return html`<h2 id="items">${reader.text('monitor.items')}</h2>
    ${itemForm(visit, monitor)}
    ${items.length === 0 ? html`<p>${reader.text('items.empty')}</p>` : itemTable(visit, monitor, items, names)}
    <p class="actions">
      ${token !== undefined && html`<a href=${`${address}#items`}>${reader.text('monitors.first')}</a>`}
      ${
        continuationToken !== undefined &&
        html`<a rel="next" href=${`${address}?${new URLSearchParams({ token: continuationToken })}#items`}>${reader.text('monitors.next')}</a>`
      }
    </p>`;
}

function itemForm({ reader, visitor, formToken }: Visit, { id, provider }: Monitor): Markup {
  if (!includesRole(visitor.role, 'admin')) return null;
  return html`<form method="post" action=${`${monitorAddress(id)}/items`} class="filters">
    ${hidden({ [FORM_TOKEN]: formToken })}
    <div>
      <label for="entity">${reader.text('items.entity')}</label>
      <input id="entity" name="entity" required autocomplete="off" />
    </div>
    ${
      provider !== null &&
      html`<div>
        <label for="record">${reader.text('items.record')}</label>
        <input id="record" name="record" autocomplete="off" maxlength="256" />
      </div>`
    }
    <button>${reader.text('items.add')}</button>
  </form>`;
}

function itemTable(
  visit: Visit,
  { id, provider }: Monitor,
  items: readonly Item[],
  names: ReadonlyMap<string, string>,
): Markup {
  const { reader, visitor } = visit;
  const isAdmin = includesRole(visitor.role, 'admin');
  const columns = [
    'about',
    ...(provider === null ? [] : (['record'] as const)),
    'added',
    ...(isAdmin ? (['action'] as const) : []),
  ] as const;
  return table({
    label: reader.text('monitor.items'),
    columns: columns.map((column) => reader.text(`items.${column}`)),
    rows: items.map(({ entity, recordId, addedAt }) => [
      html`<div class="wide">${deliveryName(visit, { entity, name: names.get(entity) ?? '' })} <code>${entity}</code></div>`,
      ...(provider === null ? [] : [recordId]),
      timeOf(reader, addedAt),
      ...(isAdmin
        ? [
            html`<a href=${`${monitorAddress(id)}/items/remove?${new URLSearchParams({ entity, record: recordId })}`}>${reader.text('items.remove')}</a>`,
          ]
        : []),
    ]),
  });
}

export function addItemActions(app: Server, deps: ServicePageDeps): void {
  const { management } = deps;
  const face = {
    names: { entityId: 'entity', recordId: 'record' },
    next: ({ param }: Visit) => `${monitorAddress(param('id'))}#items`,
    refused: (visit: Visit, { kind }: Refused) => (kind === 'invalid' ? unreadable(visit) : undefined),
  };
  addForm(app, deps, addItem, { ...face, path: '/monitors/:id/items' });
  addPage(app, deps, {
    path: '/monitors/:id/items/remove',
    role: 'admin',
    async show(visit) {
      const { reader, query, param } = visit;
      const monitor = await getMonitor(deps.store.db, management.secrets, param('id'));
      const address = monitorAddress(param('id'));
      return (
        monitor &&
        confirmationPage(visit, {
          title: reader.text('items.removeTitle', { name: monitor.name }),
          help: html`<p><code>${query('entity')}</code> ${query('record')}</p><p>${reader.text('items.removeHelp')}</p>`,
          action: `${address}/items/remove`,
          fields: { entity: query('entity'), record: query('record') },
          submit: reader.text('items.remove'),
          back: `${address}#items`,
        })
      );
    },
  });
  addForm(app, deps, removeItem, { ...face, path: '/monitors/:id/items/remove' });
}

/** Refuses a text that is not an entity. */
export const unreadable = ({ reader }: Visit): PageBody =>
  messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: reader.text('items.unreadable') });
