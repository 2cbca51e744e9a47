/**
 * How far one index of the register is read, by (time of loading, number), and where the next walk begins. A document
 * becomes findable some minutes after its time, so each walk begins that much earlier.
 */

/** A position in the order of an index: the number is text, as the index sorts it. */
export type FeedPosition = readonly [at: number, key: string];

/** The state of one feed, as JSON in the cursor. */
export interface FeedProgress {
  /** Everything before this was read: the next walk begins here. */
  readonly seen: FeedPosition;
  /** Null between walks. */
  readonly at: FeedPosition | null;
  /** Whether the walk is so close to now that documents may still appear behind it. */
  readonly near: boolean;
  readonly asked: number;
  /** When a walk last began a whole day back. */
  readonly swept: number;
  /** Position of a full sweep, which continues if no walk is due; absent if there is no sweep. */
  readonly sweep?: FeedPosition;
}

/** How late a document may become findable. */
const OVERLAP_MS = 5 * 60_000;
/** Once a day a walk begins a day back, for documents that are later than that. */
const SWEEP_MS = 24 * 3_600_000;

/** Sorts before every number, whether the index stores text or numbers. */
const FIRST = '0';

export const startFrom = (since: number): FeedPosition => [since, FIRST];

export const newFeed = (since: number): FeedProgress => ({
  seen: startFrom(since),
  at: null,
  near: false,
  asked: 0,
  swept: 0,
});

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

/** The feed after a page that ends at `last`; `full`: the walk continues. */
export function advance(
  feed: FeedProgress,
  page: { last: FeedPosition | undefined; full: boolean; now: number },
): FeedProgress {
  const { last, full, now } = page;
  const edge = now - OVERLAP_MS;
  const asked = now;
  if (last === undefined) return { ...feed, at: null, asked };
  // A document with a future time must not move the next walk there.
  const isNear = last[0] > edge;
  const reached: FeedPosition = isNear ? [edge, FIRST] : last;
  const seen = !feed.near && isBefore(feed.seen, reached) ? reached : feed.seen;
  return { ...feed, seen, near: feed.near || isNear, at: full ? last : null, asked };
}

export const isBefore = (a: FeedPosition, b: FeedPosition): boolean => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
