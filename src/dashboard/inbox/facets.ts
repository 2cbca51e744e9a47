/** How many entries wait, by kind, connection and property: each count is the way to its entries. */
import type { VNode } from 'preact';
import { countInbox } from '../../connector/review/inbox.ts';
import { KINDS_OF_CONNECTIONS, REVIEW_KINDS } from '../../connector/review/review-kinds.ts';
import { type InboxTexts, inboxAddress } from '../addresses/inbox.ts';
import { html, type Markup } from '../page/html.ts';
import type { Visit } from '../page/visit.ts';
import type { ReviewDeps } from '../routes/routes.ts';

/** More are not counted. */
const MOST = 1_000;
/** Of one property; there are many. */
const MOST_OF_PROPERTY = 100;

interface Facet {
  readonly name: string;
  readonly filter: Partial<InboxTexts>;
  readonly isChosen: boolean;
  /** Absent for the way back to all, which the kind counts. */
  readonly count?: number;
  readonly most?: number;
}

/** Shows the facets of what waits under the filter. */
export async function facets(deps: ReviewDeps, visit: Visit, filter: InboxTexts): Promise<Markup> {
  const { reader } = visit;
  const groups = [
    ['review.kind', await kinds(deps, visit, filter)],
    ['review.provider', await connections(deps, visit, filter)],
    ['review.property', await properties(deps, visit, filter)],
  ] as const;
  return html`<div class="facets">
    ${groups.map(
      ([label, shown]) =>
        shown.length > 0 &&
        html`<nav aria-label=${reader.text(label)}>
          <ul>
            ${shown.map((facet) => facetLink(visit, facet))}
          </ul>
        </nav>`,
    )}
  </div>`;
}

function facetLink({ reader }: Visit, { name, filter, isChosen, count, most = MOST }: Facet): VNode {
  const shown = count !== undefined && (count > most ? `${reader.number(most)}+` : reader.number(count));
  return html`<li>
    <a class="facet" href=${inboxAddress(filter)} aria-current=${isChosen ? 'true' : undefined}>${name}${shown !== false && html` <span class="count">${shown}</span>`}</a>
  </li>`;
}

async function kinds(
  { store: { db } }: ReviewDeps,
  { reader, now }: Visit,
  filter: InboxTexts,
): Promise<readonly Facet[]> {
  const found: Facet[] = [];
  let all = 0;
  for (const kind of REVIEW_KINDS) {
    const count = await countInbox(db, now, { kind }, MOST + 1);
    all += count;
    const isChosen = filter.kind === kind;
    if (count > 0 || isChosen)
      found.push({ name: reader.text(`kind.${kind}`), filter: { kind }, isChosen, count, most: MOST });
  }
  return [
    { name: reader.text('inbox.all'), filter: {}, isChosen: filter.kind === undefined, count: all, most: MOST },
    ...found,
  ];
}

/** Those of the kind that is chosen; nothing if a kind is of no connection. */
async function connections(
  { store: { db }, crms }: ReviewDeps,
  { reader, now }: Visit,
  { kind, provider }: InboxTexts,
): Promise<readonly Facet[]> {
  if (kind !== undefined && !KINDS_OF_CONNECTIONS.includes(kind)) return [];
  const found: Facet[] = [];
  for (const { name } of crms) {
    const count = await countInbox(db, now, { kind, provider: name }, MOST + 1);
    if (count > 0 || provider === name)
      found.push({ name, filter: { kind, provider: name }, isChosen: provider === name, count, most: MOST });
  }
  return withAll(reader.text('inbox.anyConnection'), found, { kind });
}

async function properties(
  { store: { db }, crms }: ReviewDeps,
  { reader, now }: Visit,
  { kind, provider, property }: InboxTexts,
): Promise<readonly Facet[]> {
  if (kind !== 'difference') return [];
  const mapped = crms.filter(({ name }) => provider === undefined || name === provider);
  const names = new Set(mapped.flatMap(({ mapping }) => mapping.map((row) => row.property)));
  if (property !== undefined) names.add(property);
  const found: Facet[] = [];
  for (const name of [...names].toSorted()) {
    const one = { kind, provider, property: name };
    const count = await countInbox(db, now, one, MOST_OF_PROPERTY + 1);
    if (count > 0 || property === name)
      found.push({ name, filter: one, isChosen: property === name, count, most: MOST_OF_PROPERTY });
  }
  return withAll(reader.text('inbox.anyProperty'), found, { kind, provider });
}

/** With the way back to all of them; a single one that is not chosen narrows nothing. */
function withAll(name: string, found: readonly Facet[], filter: Partial<InboxTexts>): readonly Facet[] {
  const isChosen = found.every((each) => !each.isChosen);
  if (found.length < 2 && isChosen) return [];
  return [{ name, filter, isChosen }, ...found];
}
