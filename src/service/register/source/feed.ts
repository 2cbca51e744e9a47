/**
 * How far one index of the register is read, along (time of loading, number), and where the next walk begins.
 *
 * A document becomes findable some minutes after the time it bears, so each walk begins that much before now again.
 */

/** A place in the order of an index: ms since 1970, and the number as the index sorts it, a text. */
export type FeedPosition = readonly [at: number, key: string];

/** The state of one feed, as JSON in the cursor. */
export interface FeedProgress {
  /** Everything before this has been seen: the next walk begins here. */
  readonly seen: FeedPosition;
  /** Where the walk is; null between walks. */
  readonly at: FeedPosition | null;
  /** Whether the walk has come so near to now that what it passes may still get company. */
  readonly near: boolean;
  /** When the index was last asked. */
  readonly asked: number;
  /** When a walk last began a whole day back. */
  readonly swept: number;
  /** Where a sweep of everything is, which goes on while no walk is due; absent if there is none. */
  readonly sweep?: FeedPosition;
}

/** How late a document may become findable, in ms. */
const OVERLAP_MS = 5 * 60_000;
/** Once a day a walk begins a day back, for what came later than that. */
const SWEEP_MS = 24 * 3_600_000;

/** Sorts before every number, whether the index keeps them as texts or as numbers. */
const FIRST = '0';

/** The place before all that was loaded from a time on. */
export const startFrom = (since: number): FeedPosition => [since, FIRST];

export const newFeed = (since: number): FeedProgress => ({
  seen: startFrom(since),
  at: null,
  near: false,
  asked: 0,
  swept: 0,
});

/** The place behind which the feed is to be asked. */
export function nextMark(
  feed: FeedProgress,
  now: number,
): { readonly mark: FeedPosition; readonly feed: FeedProgress } {
  if (feed.at !== null) return { mark: feed.at, feed };
  const sweeps = feed.swept > 0 && now - feed.swept >= SWEEP_MS;
  const back: FeedPosition = sweeps ? [Math.min(feed.seen[0], feed.swept - OVERLAP_MS), FIRST] : feed.seen;
  const swept = sweeps || feed.swept === 0 ? now : feed.swept;
  return { mark: back, feed: { ...feed, swept, near: false } };
}

/** The feed after a page whose furthest document is at `last`; `full`: the walk goes on. */
export function advance(
  feed: FeedProgress,
  page: { last: FeedPosition | undefined; full: boolean; now: number },
): FeedProgress {
  const { last, full, now } = page;
  const edge = now - OVERLAP_MS;
  const asked = now;
  if (last === undefined) return { ...feed, at: null, asked };
  // A document from the future must not carry the next walk there.
  const isNear = last[0] > edge;
  const reached: FeedPosition = isNear ? [edge, FIRST] : last;
  const seen = !feed.near && isBefore(feed.seen, reached) ? reached : feed.seen;
  return { ...feed, seen, near: feed.near || isNear, at: full ? last : null, asked };
}

export const isBefore = (a: FeedPosition, b: FeedPosition): boolean => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
