/** How far the feed of events is read, as JSON in the cursor. */
import { isJsonObject } from '../../../../../protocol/text/json.ts';

export interface FeedCursor {
  /** Every event up to this number was read. */
  readonly event: number;
  /** When Datafordeler loaded the newest of them, ms since 1970; 0 without one. */
  readonly loadedAt: number;
  readonly askedAt: number;
  /** Whether more events waited then. */
  readonly more: boolean;
  /** Whether the next unit may have events that are among the read ones, or lost. */
  readonly isCut?: boolean;
  readonly gap?: FeedGap;
}

/** An event that is missing, while later ones are there. */
export interface FeedGap {
  readonly number: number;
  /** When that was noticed first, ms since 1970. */
  readonly since: number;
}

export function readCursor(cursor: string | undefined): FeedCursor | undefined {
  try {
    const json: unknown = JSON.parse(cursor ?? '');
    const { event, loadedAt, askedAt, more, isCut, gap } = isJsonObject(json) ? json : {};
    if (typeof event !== 'number' || typeof loadedAt !== 'number' || typeof askedAt !== 'number') return undefined;
    const known = gapIn(gap);
    return { event, loadedAt, askedAt, more: more === true, isCut: isCut === true, ...(known && { gap: known }) };
  } catch {
    return undefined;
  }
}

function gapIn(value: unknown): FeedGap | undefined {
  const { number, since } = isJsonObject(value) ? value : {};
  return typeof number === 'number' && typeof since === 'number' ? { number, since } : undefined;
}
