/** Connections as a table: whether each answers, and how much of its call budget is used. */

import type { VNode } from 'preact';
import type { ConnectionRow } from '../../operations/installation/status/connections.ts';
import type { BlockFault } from '../../runtime/limits/blocks.ts';
import { connectionAddress } from '../addresses/addresses.ts';
import { html, type Markup } from '../page/html.ts';
import { state, table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';

export function connectionsTable(
  { reader, now }: Visit,
  rows: readonly ConnectionRow[],
  calls: ReadonlyMap<string, number>,
): VNode {
  const columns = ['connection', 'state', 'budget', 'lastDecided', 'lastWritten'] as const;
  const when = (at: number | undefined): Markup =>
    at === undefined ? html`<span class="quiet">${reader.text('overview.notLately')}</span>` : timeOf(reader, at, now);
  return table({
    label: reader.text('overview.connections'),
    columns: columns.map((column) => reader.text(`overview.${column}`)),
    rows: rows.map((row) => [
      html`<a href=${connectionAddress(row.name)}>${row.name}</a>`,
      connectionState(reader, row, now),
      budget(reader, row, calls.get(row.name) ?? 0),
      when(row.decidedAt),
      when(row.writtenAt),
    ]),
  });
}

/** What happens when a pause ends: after a refusal cvrsync only probes the account. */
const UNTIL = {
  auth: 'overview.probedAt',
  refused: 'overview.probedAt',
  rate: 'overview.pausedUntil',
  locked: 'overview.pausedUntil',
} as const satisfies Record<BlockFault, string>;

export function connectionState(reader: Reader, { state: each }: ConnectionRow, now: number): Markup {
  switch (each.kind) {
    case 'ok':
      return state('ok', reader.text('overview.answers'));
    case 'left':
      return html`${state('idle', reader.text('overview.left'))}
        <div class="quiet">${reader.text('overview.leftBy', { name: each.by })} ${timeOf(reader, each.at, now)}</div>`;
    case 'paused':
      return html`${state('warn', reader.text('overview.paused'))}
        <div class="quiet">${reader.text(UNTIL[each.fault])} ${timeOf(reader, each.until, now)}</div>
        <div class="quiet">${said(reader, each.reason)}</div>`;
    case 'silent':
      return html`${state('bad', reader.text('overview.silent'))}
        <div class="quiet">${reader.text('overview.since')} ${timeOf(reader, each.since, now)}</div>
        <div class="quiet">${said(reader, each.failure)}</div>`;
  }
}

/** The page shows a larger share of a budget as used up. */
const NEARLY_ALL = 0.9;

function budget(reader: Reader, { name, callsPerMinute }: ConnectionRow, calls: number): VNode {
  const most = Math.round(callsPerMinute);
  const text = reader.text('overview.budgetUsed', { calls, most });
  return html`<span class="together">
    <meter
      min="0"
      max=${most}
      high=${most * NEARLY_ALL}
      value=${Math.min(calls, most)}
      aria-label=${`${name}: ${reader.text('overview.budget')}`}
    >
      ${text}
    </meter>
    <span class="quiet"> ${text}</span>
  </span>`;
}
