/** A replay of what a filter finds: a page that says how many, and the action. */
import type { Server } from '../../http/server/server.ts';
import { replayDeliveries } from '../../operations/deliveries.ts';
import { invalid } from '../../operations/operation.ts';
import { countReplayable, REPLAY_LIMIT } from '../../service/delivery/deliveries.ts';
import {
  DELIVERY_FIELDS,
  type DeliveryTexts,
  deliveriesAddress,
  deliveryTexts,
  isNarrowFilter,
  readDeliveryFilter,
} from '../addresses/deliveries.ts';
import { type Fields, FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, messagePage } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addPage, type ServicePageDeps } from '../routes/routes.ts';
import { unreadableFilter } from './deliveries-page.ts';

const PATH = '/deliveries/replay';

/** Adds both. */
export function addReplay(app: Server, deps: ServicePageDeps): void {
  const { store } = deps;
  addPage(app, deps, {
    path: PATH,
    role: 'operator',
    async show(visit) {
      const texts = deliveryTexts(visit.query);
      const read = await readDeliveryFilter(store.db, texts);
      if (!read.ok) return unreadableFilter(visit, texts, read);
      if (!isNarrowFilter(read.filter)) return tooWide(visit);
      return previewPage(visit, texts, await countReplayable(store.db, read.filter));
    },
  });
  addForm(app, deps, replayDeliveries, {
    path: PATH,
    async input(_visit, fields) {
      const read = await readDeliveryFilter(store.db, textsIn(fields));
      const seen = Number(fieldValue(fields, 'seen'));
      if (!read.ok || !isNarrowFilter(read.filter) || !Number.isSafeInteger(seen) || seen <= 0)
        throw invalid('/filter', 'is too wide');
      const { since, until, monitor, state, entity } = read.filter;
      return {
        ...(monitor !== undefined && { monitor }),
        ...(state !== undefined && { state }),
        ...(entity !== undefined && { entity }),
        ...(since !== undefined && { since: new Date(since).toISOString() }),
        ...(until !== undefined && { until: new Date(until).toISOString() }),
      };
    },
    // Not what came after the preview; nor, when the form is sent twice, what was delivered in between.
    caller: (fields) => ({ seen: fieldValue(fields, 'seen') }),
    next: (_visit, _value, fields) => deliveriesAddress(textsIn(fields)),
    async refused(visit, _refusal, fields) {
      const texts = textsIn(fields);
      const read = await readDeliveryFilter(store.db, texts);
      return read.ok ? tooWide(visit) : unreadableFilter(visit, texts, read);
    },
  });
}

const textsIn = (fields: Fields): DeliveryTexts => deliveryTexts((name) => fieldValue(fields, name));

const tooWide = ({ reader }: Visit): PageBody =>
  messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: reader.text('replay.narrow') });

function previewPage({ reader, formToken, now }: Visit, texts: DeliveryTexts, found: number): PageBody {
  const chosen = DELIVERY_FIELDS.filter((name) => texts[name] !== '');
  const count = Math.min(found, REPLAY_LIMIT);
  return {
    title: reader.text('replay.title'),
    body: html`<dl class="facts">
        ${chosen.map((name) => html`<dt>${reader.text(`deliveries.${name}`)}</dt><dd><code>${texts[name]}</code></dd>`)}
      </dl>
      <p>${reader.text('replay.found', { count })}</p>
      ${found > REPLAY_LIMIT && html`<p class="notice warn">${reader.text('replay.more', { limit: REPLAY_LIMIT })}</p>`}
      <p class="quiet">${reader.text('replay.help')}</p>
      <form method="post" action=${PATH} class="actions">
        ${hidden({ [FORM_TOKEN]: formToken, ...texts, seen: String(now + 1) })}
        ${count > 0 && html`<button class="primary">${reader.text('replay.submit', { count })}</button>`}
        <a href=${deliveriesAddress(texts)}>${reader.text('replay.cancel')}</a>
      </form>`,
  };
}
