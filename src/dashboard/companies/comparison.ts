/** The register's values beside what each CRM holds now. */

import type { VNode } from 'preact';
import { FIELDS } from '../../../providers/fields.ts';
import type { Planned } from '../../connector/decide/planned.ts';
import type { CurrentRecord } from '../../connector/explain/current.ts';
import type { Timeline, TimelineFact } from '../../connector/explain/timeline.ts';
import type { RecordRef } from '../../connector/names/queues.ts';
import { html, type Markup } from '../page/html.ts';
import { state, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import { type Spectator, shownFact, shownProperty } from './shown-value.ts';

/** A linked record with what it holds. */
export interface ComparedRecord extends RecordRef {
  readonly current: CurrentRecord;
}

/** The table, and above it what kept a record from being read. */
export function comparison(spectator: Spectator, facts: Timeline['facts'], records: readonly ComparedRecord[]): Markup {
  const { reader } = spectator;
  if (facts.length === 0) return html`<p class="quiet">${reader.text('company.noFacts')}</p>`;
  const compared = records.filter(({ current }) => current.kind === 'compared');
  const rows = facts
    .map((fact) => ({ fact, planned: compared.map(({ current }) => plannedFor(fact, current)) }))
    .toSorted((a, b) => rankOf(a.planned.flat()) - rankOf(b.planned.flat()));
  const held = rows.filter(({ planned }) => compared.length === 0 || planned.flat().length > 0);
  const others = rows.filter((row) => !held.includes(row));
  const nameAndValue = ({ fact }: (typeof rows)[number]): readonly Markup[] => [
    html`<code title=${FIELDS[fact.field].about}>${fact.field}</code>`,
    html`<div class="value">${shownFact(spectator, fact.field, fact.value) ?? blank(reader)}</div>
      ${fact.complete === false && html`<div class="quiet">${reader.text('company.partly')}</div>`}`,
  ];
  return html`${records.map((record) => remark(reader, record))}
    ${table({
      label: reader.text('company.values'),
      columns: [
        reader.text('company.field'),
        reader.text('company.register'),
        ...compared.map((each) => headingOf(each, compared)),
      ],
      marked: held.flatMap(({ planned }, index) => (planned.flat().some(differs) ? [index] : [])),
      rows: held.map((row) => [...nameAndValue(row), ...row.planned.map((each) => cellOf(spectator, each))]),
    })}
    ${
      others.length > 0 &&
      html`<details>
        <summary>${reader.text('company.unmapped', { count: others.length })}</summary>
        ${table({
          label: reader.text('company.unmapped', { count: others.length }),
          columns: [reader.text('company.field'), reader.text('company.register')],
          rows: others.map(nameAndValue),
        })}
      </details>`
    }`;
}

/** A connection's name; with the record if it has several of the company. */
const headingOf = ({ provider, recordId }: ComparedRecord, all: readonly ComparedRecord[]): string =>
  all.filter((each) => each.provider === provider).length === 1 ? provider : `${provider} ${recordId}`;

const plannedFor = ({ field }: TimelineFact, current: CurrentRecord): readonly Planned[] =>
  current.kind === 'compared' ? current.planned.filter((each) => each.field === field) : [];

/** What differs comes first, what no record holds last. */
const rankOf = (planned: readonly Planned[]): number => (planned.some(differs) ? 0 : planned.length > 0 ? 1 : 2);

const blank = (reader: Reader): VNode => html`<span class="quiet">${reader.text('company.blank')}</span>`;

/** Why a record could not be compared; nothing if it could. */
function remark(reader: Reader, { provider, recordId, current }: ComparedRecord): Markup {
  switch (current.kind) {
    case 'compared':
      return null;
    case 'silent':
      return html`<p class="notice warn">
        ${reader.text('company.silent', { provider: `${provider} ${recordId}`, reason: current.reason })}
      </p>`;
    case 'contested':
      return html`<p class="notice warn">
        ${provider} <code>${recordId}</code>: ${reader.text('company.contested')} ${said(reader, current.reason)}
      </p>`;
    default:
      return html`<p class="notice">${provider} <code>${recordId}</code>: ${reader.text(`company.${current.kind}`)}</p>`;
  }
}

/** The properties that a field goes to, each with its value and how it differs; what they all hold stands there once. */
function cellOf(spectator: Spectator, planned: readonly Planned[]): Markup {
  const { reader } = spectator;
  if (planned.length === 0) return html`<span class="quiet">${'–'}</span>`;
  const values = planned.map((each) => shownProperty(spectator, each.field, each.old));
  if (!planned.some(differs) && new Set(values).size === 1)
    return html`<div class="value">${values[0] ?? blank(reader)}</div>`;
  return planned.map(
    (each, index) => html`<div class="value">
      ${values[index] ?? blank(reader)} <span class="quiet">${each.property}</span>
      ${differs(each) && html`<div>${verdict(reader, each)}</div>`}
    </div>`,
  );
}

/** What becomes of a property that differs, and by which rule. */
const verdict = (reader: Reader, { action, rule }: Planned): Markup =>
  html`${state(action === 'write' ? 'warn' : 'idle', reader.text(rule === 'held' ? 'company.held' : `company.${action}`))}
    <span class="quiet"> (${reader.text('company.rule')} ${rule})</span>`;

/** What would become of a record's properties that differ, and what of it a person is shown. */
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

/** A property that holds what the register says needs no word. */
const differs = ({ action, rule }: Planned): boolean => action !== 'skip' || rule !== 'same';
