/** The rows of a mapping as fields of its form, with the details of one of them, and the filter of records. */
import type { VNode } from 'preact';
import { FIELD_NAMES, FIELDS, type FieldName, type FieldValue } from '../../../providers/fields.ts';
import type { Policy, Property } from '../../../providers/provider.ts';
import type { Finding } from '../../runtime/finding.ts';
import { type DraftRow, exampleTexts } from '../../setup/mapping-draft.ts';
import { html, type Markup } from '../page/html.ts';
import { brief, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import { isMappable, type MappingAnswers, OPEN, POLICIES, packDetails } from './mapping-form.ts';
import { offeredOptions } from './property-list.ts';

/** What is known in addition to the answers. */
export interface MappingFacts {
  /** The register's values of the shown company. */
  readonly examples: ReadonlyMap<FieldName, FieldValue>;
  readonly remarks: ReadonlyMap<DraftRow, Finding> | undefined;
  /** Properties that cvrsync created: they hold no values of others. */
  readonly own: ReadonlySet<string>;
  readonly properties: readonly Property[] | undefined;
}

/** All rows, and one to add a field. */
export function mappingTable(reader: Reader, { rows, open, values }: MappingAnswers, facts: MappingFacts): VNode {
  const columns = (['field', 'property', 'wins', 'more'] as const).map((column) => reader.text(`mapping.${column}`));
  return table({
    label: reader.text('step.mapping'),
    columns,
    rows: [
      ...rows.map((row, at) =>
        mappingRow(reader, row, { facts, at, isOpen: at === open, hasValues: row.field in values }),
      ),
      newRow(reader, rows.length),
    ],
    marked: open === undefined ? [] : [open],
  });
}

interface RowPlace {
  readonly facts: MappingFacts;
  readonly at: number;
  readonly isOpen: boolean;
  readonly hasValues: boolean;
}

/** One row: the field with an example, the property, the policy, and a link to its details. */
function mappingRow(reader: Reader, row: DraftRow, { facts, at, isOpen, hasValues }: RowPlace): readonly Markup[] {
  const words = reader.text(`field.${row.field}`);
  const details = packDetails(row);
  const isOwn = facts.own.has(row.property) && row.policy === 'always';
  return [
    html`${words}<input type="hidden" name="f" value=${row.field} /><input type="hidden" name="m" value=${isOpen ? OPEN : details} />
      <small class="quiet">${row.text ?? shownValue(facts.examples.get(row.field))}</small>`,
    html`${propertyField(words, row.property)}${remarkOf(reader, at, facts.remarks?.get(row))}`,
    isOwn
      ? html`<input type="hidden" name="w" value=${row.policy} />${reader.text('mapping.own')}`
      : policyField(reader, words, row.policy),
    detailsButton(reader, words, { at, isSet: details !== '' || hasValues }),
  ];
}

/** The finding for a row. The page's script redraws it. */
export const remarkOf = (reader: Reader, at: number, remark: Finding | undefined): VNode =>
  html`<span id=${`r${at}`} data-drawn>${remark && html`<small class=${remark.level}>${said(reader, remark.found)}</small>`}</span>`;

const LONGEST_EXAMPLE = 30;

const shownValue = (value: FieldValue | undefined): string =>
  value === undefined || value === null
    ? ''
    : brief(typeof value === 'object' ? value.map(({ name }) => name).join(', ') : String(value)).slice(
        0,
        LONGEST_EXAMPLE,
      );

const propertyField = (words: string, property: string): VNode =>
  html`<input name="p" list="crm" aria-label=${words} value=${property} />`;

const policyField = (reader: Reader, words: string, policy: Policy): VNode =>
  html`<select name="w" aria-label=${`${reader.text('mapping.wins')}: ${words}`}>
    ${POLICIES.map((each) => html`<option value=${each} selected=${each === policy}>${reader.text(`policy.${each}`)}</option>`)}
  </select>`;

/** A row for a field to add; a field may go to several properties. */
const newRow = (reader: Reader, at: number): readonly Markup[] => [
  html`<select name="f" aria-label=${reader.text('mapping.add')}>
      <option value="">${reader.text('mapping.add')}</option>
      ${FIELD_NAMES.filter(isMappable).map((field) => html`<option value=${field}>${reader.text(`field.${field}`)}</option>`)}
    </select>
    <input type="hidden" name="m" value="" />`,
  propertyField(reader.text('mapping.addTo'), ''),
  policyField(reader, reader.text('mapping.add'), 'tracked'),
  detailsButton(reader, reader.text('mapping.add'), { at, isSet: false }),
];

const detailsButton = (
  reader: Reader,
  words: string,
  { at, isSet }: { readonly at: number; readonly isSet: boolean },
): VNode =>
  html`<button name="do" value=${`open:${at}`} class="plain" aria-label=${`${reader.text('mapping.details')}: ${words}`}>${reader.text(isSet ? 'mapping.changed' : 'mapping.details')}</button>`;

/** The details of the open row; nothing if all are closed. */
export function rowDetails(
  reader: Reader,
  { rows, open, values }: MappingAnswers,
  { properties }: Pick<MappingFacts, 'properties'>,
  now: number,
): Markup {
  const row = open === undefined ? undefined : rows[open];
  if (row === undefined) return null;
  const words = reader.text(`field.${row.field}`);
  const property = properties?.find(({ name }) => name === row.property);
  return html`<fieldset class="group" id="details">
    <legend>${reader.text('mapping.detailsOf', { field: words, property: row.property === '' ? '–' : row.property })}</legend>
    ${row.field === 'composed' && composedField(reader, row)}
    ${FIELDS[row.field].kind === 'list' && textField(reader.text('mapping.join'), 'join', row.join ?? '')}
    <div>
      <label for="case">${reader.text('mapping.case')}</label>
      <select id="case" name="case">
        ${(['', 'upper', 'lower'] as const).map((each) => html`<option value=${each} selected=${each === (row.case ?? '')}>${reader.text(each === '' ? 'mapping.caseAsIs' : `mapping.${each}`)}</option>`)}
      </select>
    </div>
    ${row.field !== 'composed' && valueFields(reader, row.field, { map: values[row.field] ?? {}, property, now })}
  </fieldset>`;
}

const textField = (label: string, name: string, value: string): VNode => html`<div>
  <label for=${name}>${label}</label>
  <input id=${name} name=${name} value=${value} autocomplete="off" />
</div>`;

const composedField = (reader: Reader, { text = '' }: DraftRow): VNode => html`<div>
  <label for="text">${reader.text('mapping.text')}</label>
  <input id="text" name="text" value=${text} maxlength="500" spellcheck="false" autocomplete="off" aria-describedby="text-help" />
  <p class="quiet" id="text-help">${reader.text('mapping.textHelp')} <code>${'{street}, {postalCode} {city}'}</code></p>
</div>`;

/** Blank pairs for further values. */
const NEW_PAIRS = 3;
/** Pairs of the register's value and the CRM's value for it, chosen from its options if it has any. */
function valueFields(
  reader: Reader,
  field: FieldName,
  { map, property, now }: { readonly map: object; readonly property: Property | undefined; readonly now: number },
): VNode {
  const pairs: readonly (readonly [string, unknown])[] = Object.entries(map);
  const blank = Array.from({ length: NEW_PAIRS }, () => ['', ''] as const);
  const options = property?.options ?? [];
  const label = (key: 'from' | 'to', at: number): string => `${reader.text(`mapping.${key}`)} ${at + 1}`;
  return html`<div>
    <p>${reader.text('mapping.valuesHelp', { field: reader.text(`field.${field}`) })} ${options.length > 0 && reader.text('mapping.optionsHelp', { count: options.length })}</p>
    ${[...pairs, ...blank].map(
      ([from, to], at) => html`<div class="pair">
        <input name="k" list="known" aria-label=${label('from', at)} value=${from} /> <span aria-hidden="true">${'→'}</span>
        <input name="o" list="options" aria-label=${label('to', at)} value=${to === null ? '' : String(to)} />
      </div>`,
    )}
    <datalist id="known">${exampleTexts(field, now).map((text) => html`<option value=${text} />`)}</datalist>
    <datalist id="options">
      ${offeredOptions(options).map(({ value, label: words }) => html`<option value=${value}>${words === value ? null : words}</option>`)}
    </datalist>
  </div>`;
}

/** The filter of records: a property, and the values that it may have. */
export function onlyFields(
  reader: Reader,
  only: MappingAnswers['only'],
  { properties = [] }: Pick<MappingFacts, 'properties'>,
): VNode {
  const entries: readonly (readonly [string, readonly string[]])[] = [...Object.entries(only), ['', []]];
  return html`<details open=${Object.keys(only).length > 0 || undefined}>
    <summary>${reader.text('mapping.only')}</summary>
    <p class="quiet">${reader.text('mapping.onlyHelp')}</p>
    ${entries.map(([name, values], at) => {
      const options = properties?.find((each) => each.name === name)?.options ?? [];
      const offered = options.slice(0, MOST_CHOICES);
      const typed = values.filter((value) => !offered.some((each) => each.value === value));
      return html`<fieldset class="group">
        <legend>${reader.text('mapping.onlyOf', { number: at + 1 })}</legend>
        <div>
          <label for=${`op${at}`}>${reader.text('mapping.property')}</label>
          <input id=${`op${at}`} name="op" list="crm" value=${name} />
        </div>
        ${offered.map(
          ({ value, label }, index) => html`<div class="choice">
            <input type="checkbox" id=${`oc${at}-${index}`} name=${`oc.${name}`} value=${value} checked=${values.includes(value)} />
            <label for=${`oc${at}-${index}`}>${label}</label>
          </div>`,
        )}
        <div>
          <label for=${`ov${at}`}>${reader.text('mapping.onlyValues')}</label>
          <textarea id=${`ov${at}`} name="ov" rows="2">${typed.join('\n')}</textarea>
        </div>
      </fieldset>`;
    })}
  </details>`;
}

/** The most options to offer as boxes. */
const MOST_CHOICES = 40;
