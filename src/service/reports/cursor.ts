import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Tx } from '../../store/store.ts';

/** How far the filing index was read. Times in ISO 8601 UTC. */
export interface Cursor {
  /** When watching began: earlier filings are not news. */
  readonly since: string;
  readonly at: string;
  /** When the index was last read from far back. */
  readonly deepAt: number;
}

const KEY = 'reports';
/** The index shows records slightly out of order, and occasionally hours late. */
const OVERLAP_MS = 15 * 60_000;
const DEEP_MS = 24 * 3_600_000;
const DEEP_EVERY_MS = 6 * 3_600_000;

export const firstCursor = (now: number): Cursor => ({ since: iso(now), at: iso(now), deepAt: now });

export const isDeep = (cursor: Cursor, now: number): boolean => now - cursor.deepAt >= DEEP_EVERY_MS;

/** Where a poll begins: a little before the newest known change, never before watching began. */
export function readFrom(cursor: Cursor, now: number): string {
  const back = iso(Date.parse(cursor.at) - (isDeep(cursor, now) ? DEEP_MS : OVERLAP_MS));
  return back > cursor.since ? back : cursor.since;
}

/** Moves the cursor to a record, never back or into the future. */
export function advanced(cursor: Cursor, updatedAt: string, now: number): Cursor {
  const at = updatedAt < iso(now) ? updatedAt : iso(now);
  return at > cursor.at ? { ...cursor, at } : cursor;
}

export async function readCursor(db: Db): Promise<Cursor | undefined> {
  const stored = await readValue(db, KEY);
  // Only this file writes it.
  return stored === undefined ? undefined : (JSON.parse(stored) as Cursor);
}

export const writeCursor = (tx: Tx, cursor: Cursor, now: number): Promise<void> =>
  writeValue(tx, KEY, JSON.stringify(cursor), now);

const iso = (ms: number): string => new Date(ms).toISOString();
