/** The stored state of each feed of press releases. */
import { createHash } from 'node:crypto';
import type { Tx } from '../../store/store.ts';
import { readState, writeState } from './poll.ts';

export interface FeedState {
  readonly etag?: string;
  readonly lastModified?: string;
  /** cvrsync publishes no items before this time: the items of a new feed are not all news. */
  readonly since: number;
  readonly wasRead: boolean;
  /** The keys of each finished item, newest first, separated by `.`. */
  readonly seen: readonly string[];
  readonly failures: number;
  /** The earliest time of the next request. */
  readonly notBefore: number;
}

/** Makes the next poll read these items again, even in unchanged feeds. */
export async function forgetSeen(tx: Tx, names: readonly string[], now: number): Promise<void> {
  for (const name of names) {
    const [feed = '', item] = name.split(' ');
    // {@link writeState} of the press wrote it.
    const state = (await readState(tx, keyOf(feed))) as FeedState | undefined;
    if (state === undefined) continue;
    const { etag: _etag, lastModified: _lastModified, ...others } = state;
    const seen = state.seen.filter((each) => !keysOf(each).includes(item ?? ''));
    await writeState(tx, keyOf(feed), { ...others, seen } satisfies FeedState, now);
  }
}

const MOST_SEEN = 1_000;

export function withSeen(seen: readonly string[], items: readonly { readonly keys: readonly string[] }[]): string[] {
  const keys = new Set(items.flatMap((item) => item.keys));
  const others = seen.filter((each) => !keysOf(each).some((key) => keys.has(key)));
  return [...items.map((item) => item.keys.join('.')), ...others].slice(0, MOST_SEEN);
}

export const seenKeys = (seen: readonly string[]): ReadonlySet<string> => new Set(seen.flatMap(keysOf));

const keysOf = (seen: string): readonly string[] => seen.split('.');

export const keyOf = (feed: string): string => `news press ${feed}`;

export const digest = (text: string | Uint8Array): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 22);
