/** Facets of a list: links that filter the list, each with its number of entries. */
import type { VNode } from 'preact';
import { html } from '../page/html.ts';
import type { Reader } from '../page/reader.ts';

export interface Facet {
  readonly name: string;
  readonly address: string;
  readonly isChosen: boolean;
  /** Absent for the link back to all, which another facet counts. */
  readonly count?: number;
  /** The most entries to count. */
  readonly most?: number;
}

/** The facets under the name of their kind. */
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

/** Adds a link back to all. Returns nothing for a single facet that is not chosen, because it filters nothing. */
export function withAll(name: string, found: readonly Facet[], address: string): readonly Facet[] {
  const isChosen = found.every((each) => !each.isChosen);
  if (found.length < 2 && isChosen) return [];
  return [{ name, address, isChosen }, ...found];
}
