/** The register's values beside what each CRM holds now. */
import type { VNode } from 'preact';
import { FIELDS } from '../../../providers/fields.ts';
import type { Planned } from '../../connector/decide/planned.ts';
import type { CurrentRecord } from '../../connector/explain/current.ts';
import type { Timeline, TimelineFact } from '../../connector/explain/timeline.ts';
import { html, type Markup } from '../page/html.ts';
import { state, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { type Spectator, shownFact, shownProperty } from './shown-value.ts';

/** A linked record with what it holds. */
export interface ComparedRecord {
  readonly provider: string;
  readonly record: string;
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
  return html`${records.map((record) => remark(reader, record))}
    ${table({
      label: reader.text('company.values'),
      columns: [
        reader.text('company.field'),
        reader.text('company.register'),
        ...compared.map((each) => headingOf(each, compared)),
      ],
      marked: rows.flatMap(({ planned }, index) => (planned.flat().some(differs) ? [index] : [])),
      rows: rows.map(({ fact, planned }) => [
        html`<code title=${FIELDS[fact.field].about}>${fact.field}</code>`,
        html`${shownFact(spectator, fact.field, fact.value) ?? blank(reader)}
          ${fact.complete === false && html`<div class="quiet">${reader.text('company.partly')}</div>`}`,
        ...planned.map((each) => cellOf(spectator, each)),
      ]),
    })}`;
}

/** A connection's name; with the record where it has several of the company. */
const headingOf = ({ provider, record }: ComparedRecord, all: readonly ComparedRecord[]): string =>
  all.filter((each) => each.provider === provider).length === 1 ? provider : `${provider} ${record}`;

const plannedFor = ({ field }: TimelineFact, current: CurrentRecord): readonly Planned[] =>
  current.kind === 'compared' ? current.planned.filter((each) => each.field === field) : [];

/** What differs comes first, what no record holds last. */
const rankOf = (planned: readonly Planned[]): number => (planned.some(differs) ? 0 : planned.length > 0 ? 1 : 2);

const blank = (reader: Reader): VNode => html`<span class="quiet">${reader.text('company.blank')}</span>`;

function remark(reader: Reader, { provider, record, current }: ComparedRecord): Markup {
  switch (current.kind) {
    case 'compared':
      return null;
    case 'silent':
      return html`<p class="notice warn">
        ${reader.text('company.silent', { provider: `${provider} ${record}`, reason: current.reason })}
      </p>`;
    default:
      return html`<p class="notice">${provider} <code>${record}</code>: ${reader.text(`company.${current.kind}`)}</p>`;
  }
}

/** The properties that a field goes to, each with its value and how it differs; what they all hold stands there once. */
function cellOf(spectator: Spectator, planned: readonly Planned[]): Markup {
  const { reader } = spectator;
  if (planned.length === 0) return html`<span class="quiet">–</span>`;
  const values = planned.map((each) => shownProperty(spectator, each.field, each.old));
  if (!planned.some(differs) && new Set(values).size === 1) return values[0] ?? blank(reader);
  return planned.map(
    (each, index) => html`<div>
      ${values[index] ?? blank(reader)} <span class="quiet">${each.property}</span>
      ${
        differs(each) &&
        html`<div>
          ${state(each.action === 'write' ? 'warn' : 'idle', reader.text(`company.${each.action}`))}
          <span class="quiet"> (${reader.text('company.rule')} ${each.rule})</span>
        </div>`
      }
    </div>`,
  );
}

/** A property that holds what the register says needs no word. */
const differs = ({ action, rule }: Planned): boolean => action !== 'skip' || rule !== 'same';
