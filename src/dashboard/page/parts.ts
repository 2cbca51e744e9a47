import type { VNode } from 'preact';
import { cutText } from '../../protocol/text/cut.ts';
import { html, type Markup } from './html.ts';
import type { Reader } from './reader.ts';

/** A time in the reader's form, to the second on hover. With `now` it says how long ago that was. */
export function timeOf(reader: Reader, ms: number, now?: number): VNode {
  const shown = now === undefined ? reader.time(ms) : reader.distance(ms, now);
  return html`<time datetime=${new Date(ms).toISOString()} title=${reader.second(ms)} data-form=${now === undefined ? undefined : 'distance'}>${shown}</time>`;
}

/** The age of the figures of a page, which its script updates. */
export const ageOf = (reader: Reader, now: number): VNode =>
  html`<time datetime=${new Date(now).toISOString()} data-form="distance">${reader.second(now)}</time>`;

/**
 * A part of a page that its script refreshes, with the time of its figures. `soon`: somebody waits for it; `never`:
 * nothing in it changes any more. `isAged` is false if its content says how old it is.
 */
export const livePart = (
  { reader, now }: { readonly reader: Reader; readonly now: number },
  {
    id,
    refreshes = 'rarely',
    isAged = true,
  }: { readonly id: string; readonly refreshes?: 'rarely' | 'soon' | 'never'; readonly isAged?: boolean },
  body: Markup,
): VNode => html`<div id=${id} data-live=${refreshes === 'never' ? undefined : refreshes === 'soon' ? 'soon' : ''} data-now=${now}>
  ${refreshes !== 'never' && isAged && html`<p class="quiet">${reader.text('live.checked')} ${ageOf(reader, now)}</p>`}
  ${body}
</div>`;

/** The longest text in a list; a page of fifty long ones would be too long. */
const BRIEF = 100;
export const brief = (text: string): string => cutText(text, BRIEF);

const isBlank = (cell: Markup): boolean => cell === null || cell === undefined || cell === false || cell === '';

/** A table. On a narrow screen each row becomes a block whose values carry the names of their columns. */
export function table({
  label,
  columns,
  rows,
  numeric = [],
  marked = [],
  header,
}: {
  readonly label: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Markup[])[];
  /** The columns of numbers, counted from 0. */
  readonly numeric?: readonly number[];
  /** The rows to look at first, counted from 0. */
  readonly marked?: readonly number[];
  /** The column that names its rows, counted from 0. */
  readonly header?: number;
}): VNode {
  const isNumber = (index: number): string | undefined => (numeric.includes(index) ? 'number' : undefined);
  return html`<div class="scroll" role="region" aria-label=${label} tabindex="0">
    <table>
      <thead>
        <tr>
          ${columns.map((column, index) => html`<th scope="col" class=${isNumber(index)}>${column}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells, row) =>
            html`<tr class=${marked.includes(row) ? 'changed' : undefined}>
              ${cells.map((cell, index) => {
                const content = isBlank(cell) ? null : html`<div>${cell}</div>`;
                return index === header
                  ? html`<th scope="row" data-label=${columns[index]}>${content}</th>`
                  : html`<td class=${isNumber(index)} data-label=${columns[index]}>${content}</td>`;
              })}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

export interface FilterField {
  readonly name: string;
  readonly label: string;
  readonly value: string;
}

/** A field that filters a list by text or by another type of input. */
export const textFilter = ({ name, label, value }: FilterField, type?: 'datetime-local'): VNode => html`<div>
  <label for=${name}>${label}</label>
  <input id=${name} name=${name} type=${type} value=${value} />
</div>`;

/**
 * Enter in a field presses the first button of a form. This button comes before answers that somebody must choose, and
 * sends nothing, because there is no dialog. A disabled button does not work: Chromium then takes the next button for
 * Enter on a checkbox.
 */
export const noDefaultAnswer = (): VNode => html`<button formmethod="dialog" hidden></button>`;

/** Folds a list of more names than this. */
const UNFOLDED = 6;
const FIRST_NAMES = 3;

/** Names in a row; many are folded under the first ones and their number. */
export const nameList = (reader: Reader, names: readonly string[]): Markup =>
  names.length <= UNFOLDED
    ? names.join(', ')
    : html`<details>
        <summary>${reader.text('list.names', { first: names.slice(0, FIRST_NAMES).join(', '), count: names.length - FIRST_NAMES })}</summary>
        ${names.join(', ')}
      </details>`;

/** A state: a word with a sign before it, because colour must not be the only sign. */
export const state = (kind: 'ok' | 'warn' | 'bad' | 'idle', word: Markup): VNode =>
  html`<span class=${`state ${kind}`}>${word}</span>`;
