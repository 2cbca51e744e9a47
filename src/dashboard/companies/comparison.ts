/** The register's values next to the values of each CRM. Values that are equal are folded. */

import type { VNode } from 'preact';
import type { FieldName } from '../../../providers/fields.ts';
import type { Planned } from '../../connector/decide/planned.ts';
import type { Timeline, TimelineFact } from '../../connector/explain/timeline.ts';
import { html, type Markup } from '../page/html.ts';
import { state, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { valueActions } from './value-actions.ts';
import { fieldWord, type Spectator, shownFact, shownProperty } from './values/shown-value.ts';
import { blank, type ComparedRecord, differs, remark, verdict } from './values/verdict.ts';

/** One property of a record. */
interface Line {
  readonly field: FieldName;
  readonly property: string;
  readonly value: unknown;
  readonly differs: boolean;
  /** Undefined if the record could not be read; the line then shows only the known value. */
  readonly planned?: Planned;
}

/** A record with its lines; undefined if its values are unknown. */
interface Column {
  readonly record: ComparedRecord;
  readonly lines: readonly Line[];
}

interface Row {
  readonly field: FieldName;
  readonly fact: TimelineFact | undefined;
  /** Per column. */
  readonly lines: readonly (readonly Line[])[];
}

/** The tables, after the reasons why a record could not be read. */
export function comparison(spectator: Spectator, timeline: Timeline, records: readonly ComparedRecord[]): Markup {
  const { reader } = spectator;
  if (timeline.facts.length === 0) return html`<p class="quiet">${reader.text('company.noFacts')}</p>`;
  const columns = records.flatMap((record): readonly Column[] => {
    const lines = linesOf(record);
    return lines === undefined ? [] : [{ record, lines }];
  });
  const rows = rowsOf(timeline.facts, columns);
  const apart = rows.filter(({ lines }) => lines.flat().some((line) => line.differs));
  const others = rows.filter((row) => columns.length > 0 && row.lines.flat().length === 0);
  const alike = rows.filter((row) => !apart.includes(row) && !others.includes(row));
  const shown = (label: string, some: readonly Row[], to: readonly Column[]): VNode =>
    valueTable(spectator, timeline, { label, rows: some, columns: to });
  const folded = (label: string, some: readonly Row[], to: readonly Column[]): Markup =>
    some.length > 0 && html`<details><summary>${label}</summary>${shown(label, some, to)}</details>`;
  const same = reader.text('company.alike', { count: alike.length });
  return html`${records.map((record) => remark(reader, record))}
    ${apart.length > 0 && shown(reader.text('company.values'), apart, columns)}
    ${columns.length > 0 ? folded(same, alike, columns) : shown(reader.text('company.values'), alike, columns)}
    ${folded(reader.text('company.unmapped', { count: others.length }), others, [])}`;
}

/** How many values differ from the register's, and how many of those cvrsync will not change. */
export function countApart(records: readonly ComparedRecord[]): { readonly apart: number; readonly staying: number } {
  const apart = records.flatMap((record) => linesOf(record) ?? []).filter((line) => line.differs);
  return { apart: apart.length, staying: apart.filter(({ planned }) => planned?.action !== 'write').length };
}

function linesOf({ current, known }: ComparedRecord): readonly Line[] | undefined {
  if (current.kind === 'compared')
    return current.planned.map((planned) => {
      const { field, property, old } = planned;
      return { field, property, value: old, differs: differs(planned), planned };
    });
  return known?.map(({ isKept, ...value }) => ({ ...value, differs: isKept }));
}

/** A row for each fact, and for each field that only a property has, such as a text composed of several facts. */
function rowsOf(facts: Timeline['facts'], columns: readonly Column[]): readonly Row[] {
  const byField = new Map(facts.map((fact) => [fact.field, fact]));
  const written = columns.flatMap(({ lines }) => lines.map(({ field }) => field));
  return [...new Set([...byField.keys(), ...written])].map((field) => ({
    field,
    fact: byField.get(field),
    lines: columns.map(({ lines }) => lines.filter((line) => line.field === field)),
  }));
}

interface ValueTable {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column[];
}

function valueTable(spectator: Spectator, timeline: Timeline, { label, rows, columns }: ValueTable): VNode {
  const { reader } = spectator;
  const records = columns.map(({ record }) => record);
  return table({
    label,
    columns: [
      reader.text('company.field'),
      reader.text('company.register'),
      ...records.map((each) => headingOf(reader, each, records)),
    ],
    rows: rows.map(({ field, fact, lines }) => [
      html`<span title=${field}>${fieldWord(reader, field)}</span>`,
      registerCell(spectator, fact, lines.flat()),
      ...records.map((record, at) => cellOf(spectator, timeline, { lines: lines[at] ?? [], record })),
    ]),
    header: 0,
  });
}

/** A connection's name, with the record's id if there are several, and a remark if the values are only known. */
function headingOf(
  reader: Reader,
  { provider, recordId, current }: ComparedRecord,
  all: readonly ComparedRecord[],
): string {
  const isOnly = all.filter((each) => each.provider === provider).length === 1;
  const name = isOnly ? provider : `${provider} ${recordId}`;
  return current.kind === 'compared' ? name : reader.text('company.known', { record: name });
}

function registerCell(spectator: Spectator, fact: TimelineFact | undefined, lines: readonly Line[]): Markup {
  const { reader } = spectator;
  if (fact === undefined) {
    const composed = lines.find(({ planned }) => planned !== undefined);
    return html`<div class="value">${(composed && shownProperty(spectator, composed.field, composed.planned?.now)) ?? blank(reader)}</div>`;
  }
  return html`<div class="value">${shownFact(spectator, fact.field, fact.value) ?? blank(reader)}</div>
    ${fact.complete === false && html`<div class="quiet">${reader.text('company.partly')}</div>`}`;
}

interface Cell {
  readonly lines: readonly Line[];
  readonly record: ComparedRecord;
}

/** The properties for a field, each with its value, its difference and its actions. */
function cellOf(spectator: Spectator, timeline: Timeline, { lines, record }: Cell): Markup {
  const { reader } = spectator;
  if (lines.length === 0) return html`<span class="quiet">${'–'}</span>`;
  return lines.map(
    (line) => html`<div class="value">
      ${shownProperty(spectator, line.field, line.value) ?? blank(reader)} <code class="quiet">${line.property}</code>
      ${line.differs && html`<div>${line.planned ? verdict(reader, line.planned) : state('idle', reader.text('company.keep'))}</div>`}
      ${valueActions(spectator, timeline, { record, property: line.property, planned: line.planned })}
    </div>`,
  );
}
