/** The sources of the service: when each is read next, or since when that has failed. */

import type { VNode } from 'preact';
import type { SourceRow } from '../../operations/installation/status/read-status.ts';
import { html, type Markup } from '../page/html.ts';
import { state, table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';

export function sourceTable({ reader, now }: Visit, rows: readonly SourceRow[]): VNode {
  const columns = ['source', 'state', 'nextRead'] as const;
  return table({
    label: reader.text('overview.sources'),
    columns: columns.map((column) => reader.text(`overview.${column}`)),
    rows: rows.map(({ name, dueAt, since, error }) => [
      name,
      sourceState(reader, { since, error, now }),
      dueAt !== null && dueAt > now ? timeOf(reader, dueAt, now) : reader.text('overview.reading'),
    ]),
  });
}

function sourceState(
  reader: Reader,
  { since, error, now }: { readonly since: number; readonly error: string | null; readonly now: number },
): Markup {
  if (error === null) return state('ok', reader.text('overview.upToDate'));
  return html`${state('bad', `${reader.text('overview.behind')} ${reader.duration(now - since)}`)}
    <div class="quiet">${said(reader, error)}</div>`;
}
