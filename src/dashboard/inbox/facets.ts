/** The number of waiting entries by kind, connection and property, each with a link to the entries. */
import { countByProperty } from '../../connector/history/differences.ts';
import { countInbox, countInboxByKind } from '../../connector/review/inbox.ts';
import { KINDS_OF_CONNECTIONS, REVIEW_KINDS } from '../../connector/review/review-kinds.ts';
import { type InboxTexts, inboxAddress } from '../addresses/inbox.ts';
import type { Markup } from '../page/html.ts';
import type { Visit } from '../page/visit.ts';
import { type Facet, facetLinks, withAll } from '../routes/facets.ts';
import type { ReviewDeps } from '../routes/routes.ts';

/** The most entries to count. */
const MOST = 1_000;
/** The most entries to count of one property, because there are many properties. */
const MOST_OF_PROPERTY = 100;

export async function facets(deps: ReviewDeps, visit: Visit, filter: InboxTexts): Promise<Markup> {
  const { reader } = visit;
  const groups = [
    ['review.kind', await kinds(deps, visit, filter)],
    ['review.provider', await connections(deps, visit, filter)],
    ['review.property', await properties(deps, visit, filter)],
  ] as const;
  return facetLinks(
    reader,
    groups.map(([label, found]) => [reader.text(label), found]),
  );
}

async function kinds(
  { store: { db } }: ReviewDeps,
  { reader, now }: Visit,
  filter: InboxTexts,
): Promise<readonly Facet[]> {
  const counts = new Map((await countInboxByKind(db, now, MOST + 1)).map(({ kind, count }) => [kind, count]));
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const found = REVIEW_KINDS.flatMap((kind): readonly Facet[] => {
    const count = counts.get(kind) ?? 0;
    const isChosen = filter.kind === kind;
    return count > 0 || isChosen
      ? [{ name: reader.text(`kind.${kind}`), address: inboxAddress({ kind }), isChosen, count, most: MOST }]
      : [];
  });
  return [
    {
      name: reader.text('inbox.all'),
      address: inboxAddress({}),
      isChosen: filter.kind === undefined,
      count: all,
      most: MOST,
    },
    ...found,
  ];
}

/** The connections of the chosen kind; nothing if a kind has no connection, or only one. */
async function connections(
  { store: { db }, crms }: ReviewDeps,
  { reader, now }: Visit,
  { kind, provider }: InboxTexts,
): Promise<readonly Facet[]> {
  if (kind !== undefined && !KINDS_OF_CONNECTIONS.includes(kind)) return [];
  if (crms.length === 1 && provider === undefined) return [];
  const found: Facet[] = [];
  for (const { name } of crms) {
    const count = await countInbox(db, now, { kind, provider: name }, MOST + 1);
    if (count > 0 || provider === name)
      found.push({
        name,
        address: inboxAddress({ kind, provider: name }),
        isChosen: provider === name,
        count,
        most: MOST,
      });
  }
  return withAll(reader.text('inbox.anyConnection'), found, inboxAddress({ kind }));
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
  const counts = await countByProperty(db, now, { provider, properties: [...names] }, MOST_OF_PROPERTY + 1);
  const found = [...names].toSorted().flatMap((name): readonly Facet[] => {
    const count = counts.get(name) ?? 0;
    const isChosen = property === name;
    const address = inboxAddress({ kind, provider, property: name });
    return count > 0 || isChosen ? [{ name, address, isChosen, count, most: MOST_OF_PROPERTY }] : [];
  });
  return withAll(reader.text('inbox.anyProperty'), found, inboxAddress({ kind, provider }));
}
