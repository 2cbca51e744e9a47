/** Which holds somebody looks at, and where the list of them is. */
import type { HoldFilter } from '../../connector/overrides/hold-list.ts';
import { HOLD_ORIGINS } from '../../connector/overrides/override.ts';

const PATH = '/holds';
const DAY_MS = 86_400_000;

/** What ends within so many days ends soon. */
export const SOON_DAYS = 7;

/** The facets that narrow the list. */
export interface HoldTexts extends Pick<HoldFilter, 'provider' | 'property' | 'origin'> {
  readonly ends?: 'soon' | undefined;
}

/** Reads the fields of a form or of an address. */
export function readHoldTexts(given: (name: string) => string): HoldTexts {
  const text = (name: string): string | undefined => given(name).trim().slice(0, 200) || undefined;
  return {
    provider: text('provider'),
    property: text('property'),
    origin: HOLD_ORIGINS.find((each) => each === given('origin')),
    ends: given('ends') === 'soon' ? 'soon' : undefined,
  };
}

/** What ends before this ends soon. */
export const endsSoonBefore = (at: number): number => at + SOON_DAYS * DAY_MS;

/** The filter of the facets, as they were at a time. */
export const holdFilterOf = ({ ends, ...texts }: HoldTexts, at: number): HoldFilter => ({
  ...texts,
  endsBefore: ends === undefined ? undefined : endsSoonBefore(at),
});

/** The list under these facets; from `more` on. */
export function holdsAddress(texts: HoldTexts, more: Readonly<Record<string, string | undefined>> = {}): string {
  const chosen = Object.entries({ ...texts, ...more }).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value]],
  );
  return chosen.length === 0 ? PATH : `${PATH}?${new URLSearchParams(chosen)}`;
}
