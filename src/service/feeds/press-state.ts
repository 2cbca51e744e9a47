/** What is kept of each feed of press releases: when it was read, and which of its items are done. */
import { createHash } from 'node:crypto';
import type { Tx } from '../../store/store.ts';
import { readState, writeState } from './poll.ts';

/** What is kept of a feed. */
export interface FeedState {
  readonly etag?: string;
  readonly lastModified?: string;
  /** Nothing older than this is told, ms since 1970: a feed that is new to us is not all news. */
  readonly since: number;
  /** Whether the feed was read before. */
  readonly wasRead: boolean;
  /** The keys of each item that is done, newest first, with `.` between them. */
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
    const seen = state.seen.filter((each) => !keysOf(each).includes(item ?? ''));
    await writeState(tx, keyOf(feed), { ...others, seen } satisfies FeedState, now);
  }
}

const MOST_SEEN = 1_000;

/** The memory of a feed once these items are done too. */
export function withSeen(seen: readonly string[], items: readonly { readonly keys: readonly string[] }[]): string[] {
  const keys = new Set(items.flatMap((item) => item.keys));
  const others = seen.filter((each) => !keysOf(each).some((key) => keys.has(key)));
  return [...items.map((item) => item.keys.join('.')), ...others].slice(0, MOST_SEEN);
}

/** All keys in the memory of a feed. */
export const seenKeys = (seen: readonly string[]): ReadonlySet<string> => new Set(seen.flatMap(keysOf));

const keysOf = (seen: string): readonly string[] => seen.split('.');

export const keyOf = (feed: string): string => `news press ${feed}`;

export const digest = (text: string | Uint8Array): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 22);
