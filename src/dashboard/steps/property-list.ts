/** The properties of a CRM to choose from: as many as fit, and a search for the others. */
import type { VNode } from 'preact';
import type { Property } from '../../../providers/provider.ts';
import { html, type Markup } from '../page/html.ts';
import type { Reader } from '../page/reader.ts';

/** The most bytes that the list may add to a page; accounts have a thousand properties. */
const MOST_BYTES = 9_000;
const OPTION_BYTES = 6_000;
const TAG_BYTES = '<option value=""></option>'.length;
const MOST_FOUND = 50;

/** The properties that a page offers; `isWhole`: all of them. */
function offered(properties: readonly Property[]): { readonly list: readonly Property[]; readonly isWhole: boolean } {
  const list = fitting(properties, ({ name }) => name.length + TAG_BYTES, MOST_BYTES);
  return { list, isWhole: list.length === properties.length };
}

function fitting<T>(list: readonly T[], bytesOf: (each: T) => number, most: number): readonly T[] {
  let bytes = 0;
  const end = list.findIndex((each) => {
    bytes += bytesOf(each);
    return bytes > most;
  });
  return end === -1 ? list : list.slice(0, end);
}

type Option = NonNullable<Property['options']>[number];

/** The options of a property that a page has room for. */
export const offeredOptions = (options: readonly Option[]): readonly Option[] =>
  fitting(options, ({ value, label }) => value.length + (label === value ? 0 : label.length) + TAG_BYTES, OPTION_BYTES);

/** The suggestions of fields with this `list`. */
export const propertyList = (id: string, properties: readonly Property[]): VNode => html`<datalist id=${id}>
  ${offered(properties).list.map(({ name }) => html`<option value=${name} />`)}
</datalist>`;

/** A search by name and label, if the list has no room for all; `asked`: the search text. */
export function propertySearch(reader: Reader, properties: readonly Property[], asked: string): Markup {
  if (offered(properties).isWhole) return null;
  const text = asked.trim().toLowerCase();
  const found = properties.filter(({ name, label }) => `${name} ${label}`.toLowerCase().includes(text));
  return html`<form class="filters" role="search">
      <div>
        <label for="find">${reader.text('setup.find')}</label>
        <input id="find" name="find" type="search" value=${asked} />
      </div>
      <button>${reader.text('setup.search')}</button>
    </form>
    ${
      text !== '' &&
      html`<div role="status">
        <p>${reader.text('setup.found', { count: found.length })}</p>
        <ul>
          ${found.slice(0, MOST_FOUND).map(({ name, label }) => html`<li><code>${name}</code> ${label !== name && label}</li>`)}
        </ul>
      </div>`
    }`;
}
