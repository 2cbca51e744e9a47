/** The number of holds by connection, origin and property, and of those that end soon. */
import { countHoldsByPart, type HoldCount } from '../../connector/overrides/hold-counts.ts';
import { ALL_PROPERTIES, HOLD_ORIGINS } from '../../connector/overrides/override.ts';
import type { Db } from '../../store/store.ts';
import { endsSoonBefore, type HoldTexts, holdsAddress, SOON_DAYS } from '../addresses/holds.ts';
import type { Markup } from '../page/html.ts';
import type { Visit } from '../page/visit.ts';
import { type Facet, facetLinks, withAll } from '../routes/facets.ts';

/** The most to count of a connection, property and origin. */
export const MOST_HOLDS = 500;

export const readHoldCounts = (db: Db, now: number, { ends }: HoldTexts): Promise<readonly HoldCount[]> =>
  countHoldsByPart(db, now, {
    endsBefore: endsSoonBefore(now),
    most: MOST_HOLDS + 1,
    isWhole: ends === undefined,
  });

/** The number of holds in the chosen facets: exact up to {@link MOST_HOLDS}. */
export function holdsIn(counts: readonly HoldCount[], { provider, property, origin, ends }: HoldTexts): number {
  const chosen = counts.filter(
    (each) =>
      (provider === undefined || each.provider === provider) &&
      (property === undefined || each.property === property) &&
      (origin === undefined || each.origin === origin),
  );
  return chosen.reduce((sum, { count, ending }) => sum + (ends === undefined ? count : ending), 0);
}

/** The facets, each counted within the choices of the others. */
export function holdFacets({ reader }: Visit, texts: HoldTexts, counts: readonly HoldCount[]): Markup {
  const facets = (names: readonly (readonly [name: string, part: HoldTexts])[]): Facet[] =>
    names.flatMap(([name, part]) => {
      const isChosen = Object.entries(part).every(([key, value]) => texts[key as keyof HoldTexts] === value);
      const count = holdsIn(counts, { ...texts, ...part });
      const address = holdsAddress({ ...texts, ...part });
      return count === 0 && !isChosen ? [] : [{ name, address, isChosen, count, most: MOST_HOLDS }];
    });
  /** The existing values, and the chosen one. */
  const found = (key: 'provider' | 'property'): readonly string[] => [
    ...new Set([...counts.map((each) => each[key]), ...(texts[key] === undefined ? [] : [texts[key]])]),
  ];
  const propertyText = (property: string): string =>
    property === ALL_PROPERTIES ? reader.text('company.allProperties') : property;
  const back = (part: HoldTexts): string => holdsAddress({ ...texts, ...part });
  const soon = facets([[reader.text('holds.soon', { count: SOON_DAYS }), { ends: 'soon' }]]);
  const anyEnd = { name: reader.text('holds.anyEnd'), address: back({ ends: undefined }) };
  return facetLinks(reader, [
    [
      reader.text('holds.provider'),
      withAll(
        reader.text('inbox.anyConnection'),
        facets(
          found('provider')
            .toSorted()
            .map((provider) => [provider, { provider }]),
        ),
        back({ provider: undefined }),
      ),
    ],
    [
      reader.text('holds.origin'),
      withAll(
        reader.text('holds.anyOrigin'),
        facets(HOLD_ORIGINS.map((origin) => [reader.text(`origin.${origin}`), { origin }])),
        back({ origin: undefined }),
      ),
    ],
    [reader.text('holds.until'), soon.length === 0 ? [] : [{ ...anyEnd, isChosen: texts.ends === undefined }, ...soon]],
    [
      reader.text('holds.property'),
      withAll(
        reader.text('inbox.anyProperty'),
        facets(found('property').map((property) => [propertyText(property), { property }])),
        back({ property: undefined }),
      ),
    ],
  ]);
}
