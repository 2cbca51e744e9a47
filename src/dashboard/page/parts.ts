/** Parts that pages are put together of. */
import type { VNode } from 'preact';
import { cutText } from '../../protocol/text/cut.ts';
import { html, type Markup } from './html.ts';
import type { Reader } from './reader.ts';

/** A time in the reader's form, to the second on hover. With `now` it says how long ago that was. */
export function timeOf(reader: Reader, ms: number, now?: number): VNode {
  const shown = now === undefined ? reader.time(ms) : reader.distance(ms, now);
  return html`<time datetime=${new Date(ms).toISOString()} title=${reader.second(ms)} data-form=${now === undefined ? undefined : 'distance'}>${shown}</time>`;
}

/** The time of the figures of a page: how old they are, where its script counts. */
export const ageOf = (reader: Reader, now: number): VNode =>
  html`<time datetime=${new Date(now).toISOString()} data-form="distance">${reader.second(now)}</time>`;

/**
 * A part of a page that its script keeps up to date, with the time of its figures; `soon` if somebody waits for it, and
 * `never` if nothing in it moves any more; `isAged` is false if its content says how old it is.
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

/** What a list shows of a text: a page of fifty long ones would be too long for anybody. */
const BRIEF = 100;
export const brief = (text: string): string => cutText(text, BRIEF);

const isBlank = (cell: Markup): boolean => cell === null || cell === undefined || cell === false || cell === '';

/** A table. Where the screen is narrow each row becomes a block, whose values carry the names of their columns. */
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
  /** The columns whose values are numbers, counted from 0. */
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

/** A field that narrows a list by a text, or by what else the browser has a field for. */
export const textFilter = ({ name, label, value }: FilterField, type?: 'datetime-local'): VNode => html`<div>
  <label for=${name}>${label}</label>
  <input id=${name} name=${name} type=${type} value=${value} />
</div>`;

/**
 * Enter in a field presses the first button of a form: this one stands before answers that must be chosen, and sends
 * nothing, for there is no dialog. Disabled would not do: Chromium then takes the next button for Enter on a checkbox.
 */
export const noDefaultAnswer = (): VNode => html`<button formmethod="dialog" hidden></button>`;

/** More names than this are folded. */
const UNFOLDED = 6;
const FIRST_NAMES = 3;

/** Names in a row; many are folded, with the first of them and how many there are. */
export const nameList = (reader: Reader, names: readonly string[]): Markup =>
  names.length <= UNFOLDED
    ? names.join(', ')
    : html`<details>
        <summary>${reader.text('list.names', { first: names.slice(0, FIRST_NAMES).join(', '), count: names.length - FIRST_NAMES })}</summary>
        ${names.join(', ')}
      </details>`;

/** A state: a word with a sign before it, so that colour is never alone. */
export const state = (kind: 'ok' | 'warn' | 'bad' | 'idle', word: Markup): VNode =>
  html`<span class=${`state ${kind}`}>${word}</span>`;
