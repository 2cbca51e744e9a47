/** Leaving a CRM as a run: what would end or has ended, and what is left. */
import type { VNode } from 'preact';
import { LEAVE, LEAVE_RESULTS, type LeaveJob, type LeaveRequest } from '../../connector/leave/leave-task.ts';
import { countOpenLinks } from '../../connector/links/end-all.ts';
import { itemFacts, mayConfirm } from '../../operations/installation/runs.ts';
import { countItems, readItems } from '../../runtime/runs/run-items.ts';
import { companyAddress, connectionAddress } from '../addresses/addresses.ts';
import { keptMonitoring, MOST_COUNTED } from '../connections/leaving.ts';
import { html, type Markup } from '../page/html.ts';
import { brief, state, table } from '../page/parts.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import type { RouteDeps } from '../routes/routes.ts';
import type { RunDetails, RunFace } from './run-face.ts';
import { isUndone, undoneWord } from './undo-run.ts';

const SHOWN = 100;

export const leaveFace = ({ store: { db } }: RouteDeps): RunFace<LeaveRequest> => ({
  columns: ['provider', 'record', 'entity', 'property', 'from', 'to', 'ours', 'others', 'reason'],
  title: (reader, { input: { provider: name } }) => reader.text('leave.title', { name }),
  progress: (reader, { done, total }) =>
    total === null ? reader.text('leave.found', { count: done }) : reader.text('leave.progress', { done, of: total }),
  facts: ({ reader }, { input: { provider, undo, removeProperties } }) => {
    const yes = (is: boolean): string => reader.text(is ? 'value.yes' : 'value.no');
    return html`<dt>${reader.text('overview.connection')}</dt>
      <dd><a href=${connectionAddress(provider)}>${provider}</a></dd>
      <dt>${reader.text('leave.undo')}</dt>
      <dd>${yes(undo)}</dd>
      <dt>${reader.text('leave.removeProperties')}</dt>
      <dd>${yes(removeProperties)}</dd>`;
  },
  async details(visit, run): Promise<RunDetails> {
    const { reader, visitor } = visit;
    const { provider } = run.input;
    const counts = await countItems(db, run.id);
    const items = (await readItems(db, run.id, SHOWN, LEAVE.fine)).map(itemFacts);
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const isReady = run.stage === 'preview' && run.state === 'done';
    const { links, shared } = isReady ? await countOpenLinks(db, provider, MOST_COUNTED + 1) : { links: 0, shared: 0 };
    const kept = keptMonitoring(reader, { isMany: links > MOST_COUNTED, shared });
    const words = html`${kept !== undefined && `${kept} `}${reader.text('leave.confirm')}`;
    return {
      confirmation: { button: reader.text('leave.title', { name: provider }), words },
      ...(isReady &&
        !mayConfirm(run, visitor.role) && { ask: html`<p class="quiet">${reader.text('leave.adminOnly')}</p>` }),
      body: html`${run.stage === 'run' && restOf(visit, run)}
        ${counts.size > 0 && html`<h2>${reader.text('run.result')}</h2> ${countTable(visit, run, counts)}`}
        ${items.length > 0 && html`<h2>${reader.text('leave.each')}</h2> ${itemTable(visit, run, items)}`}
        ${total > items.length && html`<p class="quiet">${reader.text('run.more', { count: items.length })}</p>`}`,
    };
  },
});

/** What is left of the connection, and the next steps. */
function restOf({ reader }: Visit, { state: ending, input: { provider } }: LeaveJob): Markup {
  if (ending === 'waiting' || ending === 'running') return null;
  return html`<section class=${ending === 'done' ? 'notice' : 'notice warn'}>
    <p>${reader.text(ending === 'done' ? 'leave.rest' : 'leave.halfway', { name: provider })}</p>
    ${ending === 'done' && html`<p>${reader.text('left.file')} <code>${`connector.providers.${provider}`}</code></p>`}
    <p><a href=${connectionAddress(provider)}>${reader.text('leave.back')}</a></p>
  </section>`;
}

const SIGNS = {
  link: 'idle',
  ended: 'ok',
  unconfirmed: 'warn',
  property: 'idle',
  removed: 'ok',
  absent: 'idle',
  'in-use': 'warn',
  'by-hand': 'warn',
} as const;

function wordOf({ reader }: Visit, run: LeaveJob, kind: string): Markup {
  const known = LEAVE_RESULTS.find((each) => each === kind);
  if (known !== undefined) return state(SIGNS[known], reader.text(`leave.${known}`));
  return isUndone(kind) ? undoneWord(reader, run, kind) : kind;
}

const countTable = (visit: Visit, run: LeaveJob, counts: ReadonlyMap<string, number>): VNode =>
  table({
    label: visit.reader.text('run.result'),
    columns: [visit.reader.text('run.result'), visit.reader.text('leave.count')],
    numeric: [1],
    rows: [...counts].map(([kind, count]) => [wordOf(visit, run, kind), visit.reader.number(count)]),
  });

/** A reason may quote values of the CRM. */
function itemTable(visit: Visit, run: LeaveJob, items: readonly Readonly<Record<string, unknown>>[]): VNode {
  const { reader, visitor } = visit;
  const columns = ['writes.record', 'writes.company', 'writes.property', 'run.result', 'undo.reason'] as const;
  return table({
    label: reader.text('leave.each'),
    columns: columns.map((column) => reader.text(column)),
    rows: items.map(({ provider, record, entity, property, result, reason }) => [
      record !== undefined && html`<span class="together">${String(provider)} <code>${String(record)}</code></span>`,
      entity !== undefined &&
        entity !== '' &&
        html`<a href=${companyAddress(String(entity))}><code>${String(entity)}</code></a>`,
      property !== undefined && html`<code>${String(property)}</code>`,
      wordOf(visit, run, String(result)),
      visitor.seesPersons && typeof reason === 'string' && said(reader, reason, brief),
    ]),
  });
}
