/** Which part of review somebody looks at, and where the list of it is. */
import { REVIEW_KINDS, type ReviewKind } from '../../connector/review/review-kinds.ts';

/** The fields that narrow the list. */
export interface ReviewFilter {
  /** Undefined for all but differences. */
  readonly kind: ReviewKind | undefined;
  /** Of differences. */
  readonly provider: string | undefined;
  readonly property: string | undefined;
}

/** Reads the fields of a form or of an address. */
export function readReviewFilter(given: (name: string) => string): ReviewFilter {
  const kind = REVIEW_KINDS.find((each) => each === given('kind'));
  const text = (name: string): string | undefined =>
    kind === 'difference' ? given(name).trim().slice(0, 200) || undefined : undefined;
  return { kind, provider: text('provider'), property: text('property') };
}

/** The list under a filter, or another page about it; from `more` on. */
export function reviewAddress(
  filter: ReviewFilter,
  more: Readonly<Record<string, string>> = {},
  path = '/review',
): string {
  const chosen = Object.entries({ ...filter, ...more }).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value]],
  );
  return chosen.length === 0 ? path : `${path}?${new URLSearchParams(chosen)}`;
}
