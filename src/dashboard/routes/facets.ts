/** Facets of a list: how much there is of each part of it, as links that narrow the list. */
import type { VNode } from 'preact';
import { html } from '../page/html.ts';
import type { Reader } from '../page/reader.ts';

export interface Facet {
  readonly name: string;
  readonly address: string;
  readonly isChosen: boolean;
  /** Absent for the way back to all, which another facet counts. */
  readonly count?: number;
  /** More are not counted. */
  readonly most?: number;
}

/** The facets, each kind under its name. */
export const facetLinks = (
  reader: Reader,
  groups: readonly (readonly [label: string, facets: readonly Facet[]])[],
): VNode => html`<div class="facets">
  ${groups.map(
    ([label, shown]) =>
      shown.length > 0 &&
      html`<nav aria-label=${label}>
        <ul>
          ${shown.map((facet) => facetLink(reader, facet))}
        </ul>
      </nav>`,
  )}
</div>`;

function facetLink(reader: Reader, { name, address, isChosen, count, most = Number.POSITIVE_INFINITY }: Facet): VNode {
  const shown = count !== undefined && (count > most ? `${reader.number(most)}+` : reader.number(count));
  return html`<li>
    <a class="facet" href=${address} aria-current=${isChosen ? 'true' : undefined}>${name}${shown !== false && html` <span class="count">${shown}</span>`}</a>
  </li>`;
}

/** With the way back to all of them; a single one that is not chosen narrows nothing. */
export function withAll(name: string, found: readonly Facet[], address: string): readonly Facet[] {
  const isChosen = found.every((each) => !each.isChosen);
  if (found.length < 2 && isChosen) return [];
  return [{ name, address, isChosen }, ...found];
}
