/** Replays of deliveries as runs. */
import type { VNode } from 'preact';
import type { Server } from '../../http/server/server.ts';
import { invalid } from '../../operations/definition/operation.ts';
import { itemFacts } from '../../operations/installation/runs.ts';
import { requestReplay } from '../../operations/service/deliveries.ts';
import { countItems, type RunItem, readItems } from '../../runtime/runs/run-items.ts';
import { DELIVERY_STATES } from '../../service/delivery/deliveries.ts';
import { REPLAY, type ReplayRequest } from '../../service/delivery/replay/replay-task.ts';
import { runAddress } from '../addresses/addresses.ts';
import { deliveriesAddress, deliveryTexts, isNarrowFilter, readDeliveryFilter } from '../addresses/deliveries.ts';
import { fieldValue } from '../page/fields.ts';
import { html } from '../page/html.ts';
import { messagePage } from '../page/messages.ts';
import { state, table } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import type { RouteDeps } from '../routes/routes.ts';
import type { RunFace } from './run-face.ts';

const SHOWN = 100;

/** Adds the action that requests a preview for a narrow filter. */
export function addReplayRequest(app: Server, deps: RouteDeps): void {
  addForm(app, deps, requestReplay, {
    path: '/runs/replay',
    async input({ reader }, fields) {
      const read = await readDeliveryFilter(
        deps.store.db,
        deliveryTexts((name) => fieldValue(fields, name)),
        reader,
      );
      if (!read.ok || !isNarrowFilter(read.filter)) throw invalid('/filter', 'is too wide');
      const { since, until, monitor, state: of, entity } = read.filter;
      return { monitor, state: of, entity, since: timeText(since), until: timeText(until) };
    },
    next: (_visit, { id }) => runAddress(id),
    refused: ({ reader }) =>
      messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: reader.text('replay.narrow') }),
  });
}

const timeText = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

const RESULTS = ['planned', 'due', 'changed'] as const;

export const replayFace = ({ store: { db } }: RouteDeps): RunFace<ReplayRequest> => ({
  columns: ['delivery', 'monitor', 'entity', 'was', 'created'],
  title: (reader, { id }) => reader.text('replay.run', { id: String(id) }),
  progress: (reader, { done, total }) =>
    total === null ? undefined : reader.text('replay.progress', { done, of: total }),
  facts({ reader }, { input: { monitor = '', entity = '', state: of = '', since, until } }) {
    const texts = { monitor, entity, state: of, since: timeText(since) ?? '', until: timeText(until) ?? '' };
    const chosen = Object.entries(texts).filter(([, text]) => text !== '');
    return html`<dt>${reader.text('undo.selection')}</dt>
      <dd>
        ${chosen.map(([name, text]) => html`<code>${name} ${text}</code> `)}
        <a href=${deliveriesAddress(texts)}>${reader.text('replay.again')}</a>
      </dd>`;
  },
  async details(visit, { id }) {
    const { reader } = visit;
    const counts = await countItems(db, id);
    const items = await readItems(db, id, SHOWN, REPLAY.fine);
    const count = counts.get('planned') ?? 0;
    const total = [...counts.values()].reduce((sum, each) => sum + each, 0);
    const button = reader.text('replay.submit', { count });
    return {
      confirmation: count === 0 ? undefined : { button, words: reader.text('replay.help') },
      body: html`${items.length > 0 && html`<h2>${reader.text('run.result')}</h2> ${countTable(visit, counts)} ${itemTable(visit, items)}`}
        ${total > items.length && html`<p class="quiet">${reader.text('run.more', { count: items.length })}</p>`}`,
    };
  },
});

const wordOf = ({ reader }: Visit, kind: string): VNode => {
  const result = RESULTS.find((each) => each === kind) ?? 'changed';
  return state(result === 'changed' ? 'warn' : result === 'due' ? 'ok' : 'idle', reader.text(`replayed.${result}`));
};

const countTable = (visit: Visit, counts: ReadonlyMap<string, number>): VNode =>
  table({
    label: visit.reader.text('run.result'),
    columns: [visit.reader.text('run.result'), visit.reader.text('replay.count')],
    numeric: [1],
    rows: [...counts].map(([kind, count]) => [wordOf(visit, kind), visit.reader.number(count)]),
  });

function itemTable(visit: Visit, items: readonly RunItem[]): VNode {
  const { reader } = visit;
  const was = (given: unknown): string => {
    const known = DELIVERY_STATES.find((each) => each === given);
    return known === undefined ? '' : reader.text(`delivery.${known}`);
  };
  return table({
    label: reader.text('replay.count'),
    columns: [
      reader.text('deliveries.number'),
      reader.text('deliveries.entity'),
      reader.text('deliveries.state'),
      reader.text('run.result'),
    ],
    rows: items.map((item) => {
      const { delivery, entity, was: before, result } = itemFacts(item);
      const seq = String(delivery);
      return [
        html`<a href=${`/deliveries/${seq}`}>${seq}</a>`,
        html`<code>${String(entity)}</code>`,
        was(before),
        wordOf(visit, String(result)),
      ];
    }),
  });
}
