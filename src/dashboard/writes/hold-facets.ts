/** How many holds there are of each connection, origin and property, and how many end soon. */
import { countHoldsOf } from '../../connector/overrides/hold-list.ts';
import { ALL_PROPERTIES } from '../../connector/overrides/override.ts';
import { HOLD_ORIGINS } from '../../operations/holds.ts';
import { type HoldTexts, holdFilterOf, holdsAddress, SOON_DAYS } from '../addresses/holds.ts';
import type { Markup } from '../page/html.ts';
import type { Visit } from '../page/visit.ts';
import { type Facet, facetLinks, withAll } from '../routes/facets.ts';
import type { WritesDeps } from './writes-page.ts';

/** More are not counted. */
const MOST = 1_000;
/** Of one property; there are many. */
const MOST_OF_PROPERTY = 100;

/** Shows them, each within what is chosen of the others. */
export async function holdFacets({ store, crms }: WritesDeps, visit: Visit, texts: HoldTexts): Promise<Markup> {
  const { reader, now } = visit;
  const all = async (names: readonly (readonly [name: string, part: HoldTexts])[], most = MOST): Promise<Facet[]> => {
    const filters = names.map(([, part]) => holdFilterOf({ ...texts, ...part }, now));
    const counts = await countHoldsOf(store.db, now, filters, most + 1);
    return names.flatMap(([name, part], at) => {
      const isChosen = Object.entries(part).every(([key, value]) => texts[key as keyof HoldTexts] === value);
      const count = counts[at] ?? 0;
      return count === 0 && !isChosen
        ? []
        : [{ name, address: holdsAddress({ ...texts, ...part }), isChosen, count, most }];
    });
  };
  const connections = crms.map(({ name }) => [name, { provider: name }] as const);
  const origins = HOLD_ORIGINS.map((origin) => [reader.text(`origin.${origin}`), { origin }] as const);
  const mapped = crms.filter(({ name }) => texts.provider === undefined || name === texts.provider);
  const names = new Set(mapped.flatMap(({ mapping }) => mapping.map((row) => row.property)));
  if (texts.property !== undefined && texts.property !== ALL_PROPERTIES) names.add(texts.property);
  const properties = [
    [reader.text('company.allProperties'), { property: ALL_PROPERTIES }] as const,
    ...[...names].toSorted().map((property) => [property, { property }] as const),
  ];
  const soon = await all([[reader.text('holds.soon', { count: SOON_DAYS }), { ends: 'soon' }]]);
  const back = (part: HoldTexts): string => holdsAddress({ ...texts, ...part });
  return facetLinks(reader, [
    [
      reader.text('holds.provider'),
      withAll(reader.text('inbox.anyConnection'), await all(connections), back({ provider: undefined })),
    ],
    [
      reader.text('holds.origin'),
      withAll(reader.text('holds.anyOrigin'), await all(origins), back({ origin: undefined })),
    ],
    [
      reader.text('holds.until'),
      soon.length === 0
        ? []
        : [
            {
              name: reader.text('holds.anyEnd'),
              address: back({ ends: undefined }),
              isChosen: texts.ends === undefined,
            },
            ...soon,
          ],
    ],
    [
      reader.text('holds.property'),
      withAll(reader.text('inbox.anyProperty'), await all(properties, MOST_OF_PROPERTY), back({ property: undefined })),
    ],
  ]);
}
