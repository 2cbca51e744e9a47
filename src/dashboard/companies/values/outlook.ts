/** Shows what a record would hold after a change. */
import type { VNode } from 'preact';
import type { Planned } from '../../../connector/decide/planned.ts';
import { html, type Markup } from '../../page/html.ts';
import { table } from '../../page/parts.ts';
import { type Spectator, shownProperty } from './shown-value.ts';
import { blank, type ComparedRecord, differs, remark, verdict } from './verdict.ts';

/** The effect on the properties that differ, and what a page shows of it. */
export function outlook(
  spectator: Spectator,
  record: ComparedRecord,
  isMeant: (property: string) => boolean = () => true,
): { readonly table: Markup; readonly seen: unknown } {
  const { reader } = spectator;
  const { current } = record;
  if (current.kind !== 'compared') return { table: remark(reader, record), seen: current.kind };
  const meant = current.planned.filter(({ property }) => isMeant(property));
  const different = meant.filter(differs);
  const seen = meant.map(({ property, action, rule, old, now }) => [property, action, rule, old, now]);
  if (meant.length === 0) return { table: html`<p>${reader.text('outlook.unknown')}</p>`, seen };
  if (different.length === 0) return { table: html`<p>${reader.text('outlook.same')}</p>`, seen };
  return { table: outlookTable(spectator, different), seen };
}

function outlookTable(spectator: Spectator, planned: readonly Planned[]): VNode {
  const { reader } = spectator;
  const value = ({ field }: Planned, each: unknown): Markup =>
    html`<div class="value">${shownProperty(spectator, field, each) ?? blank(reader)}</div>`;
  const columns = ['property', 'crm', 'register', 'then'] as const;
  return table({
    label: reader.text('outlook.label'),
    columns: columns.map((column) => reader.text(`outlook.${column}`)),
    marked: planned.flatMap(({ action }, index) => (action === 'write' ? [index] : [])),
    rows: planned.map((each) => [
      html`<code>${each.property}</code>`,
      value(each, each.old),
      value(each, each.now),
      verdict(reader, each),
    ]),
  });
}
