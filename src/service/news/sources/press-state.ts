/** What is kept of each feed of press releases: when it was read, and which of its items are done. */
import { createHash } from 'node:crypto';
import type { Tx } from '../../../store/store.ts';
import { readState, writeState } from './poll.ts';

/** What is kept of a feed. */
export interface FeedState {
  readonly etag?: string;
  readonly lastModified?: string;
  /** Nothing older than this is told, ms since 1970: a feed that is new to us is not all news. */
  readonly since: number;
  /** Whether the feed was read before. */
  readonly wasRead: boolean;
  /** Digests of the items that are done, newest first. */
  readonly seen: readonly string[];
  readonly failures: number;
  /** Not asked before, ms since 1970. */
  readonly notBefore: number;
}

/** Has feeds read once more whether they changed or not, and these items in them. */
export async function forgetSeen(tx: Tx, names: readonly string[], now: number): Promise<void> {
  for (const name of names) {
    const [feed = '', item] = name.split(' ');
    // Written by this file.
    const state = (await readState(tx, keyOf(feed))) as FeedState | undefined;
    if (state === undefined) continue;
    const { etag: _etag, lastModified: _lastModified, ...others } = state;
    const seen = state.seen.filter((each) => each !== item);
    await writeState(tx, keyOf(feed), { ...others, seen } satisfies FeedState, now);
  }
}

export const keyOf = (feed: string): string => `news press ${feed}`;

export const digest = (text: string | Uint8Array): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 22);
