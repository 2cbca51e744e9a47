/** The filter of holds, in the fields of a form or of an address. */
import type { HoldFilter } from '../../connector/overrides/hold-list.ts';
import { HOLD_ORIGINS } from '../../connector/overrides/override.ts';

const PATH = '/holds';
const DAY_MS = 86_400_000;

/** A hold ends soon if it ends within this many days. */
export const SOON_DAYS = 7;

export interface HoldTexts extends Pick<HoldFilter, 'provider' | 'property' | 'origin'> {
  readonly ends?: 'soon' | undefined;
}

export function readHoldTexts(given: (name: string) => string): HoldTexts {
  const text = (name: string): string | undefined => given(name).trim().slice(0, 200) || undefined;
  return {
    provider: text('provider'),
    property: text('property'),
    origin: HOLD_ORIGINS.find((each) => each === given('origin')),
    ends: given('ends') === 'soon' ? 'soon' : undefined,
  };
}

export const endsSoonBefore = (at: number): number => at + SOON_DAYS * DAY_MS;

/** The filter as of a time. */
export const holdFilterOf = ({ ends, ...texts }: HoldTexts, at: number): HoldFilter => ({
  ...texts,
  endsBefore: ends === undefined ? undefined : endsSoonBefore(at),
});

/** The list under a filter; `more` adds the place of its page. */
export function holdsAddress(texts: HoldTexts, more: Readonly<Record<string, string | undefined>> = {}): string {
  const chosen = Object.entries({ ...texts, ...more }).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value]],
  );
  return chosen.length === 0 ? PATH : `${PATH}?${new URLSearchParams(chosen)}`;
}
