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
  /** Since when the event after it is missing. */
  readonly gapSince?: number;
}

export function readCursor(cursor: string | undefined): FeedCursor | undefined {
  try {
    const json: unknown = JSON.parse(cursor ?? '');
    const { event, loadedAt, askedAt, more, gapSince } = isJsonObject(json) ? json : {};
    if (typeof event !== 'number' || typeof loadedAt !== 'number' || typeof askedAt !== 'number') return undefined;
    return { event, loadedAt, askedAt, more: more === true, ...(typeof gapSince === 'number' && { gapSince }) };
  } catch {
    return undefined;
  }
}
