/**
 * Limits each client's calls in a minute over all daemons of the store. Each daemon takes a few of the remaining calls
 * at a time; calls that it has not made by the end of the minute are lost. With SQLite the only daemon counts in memory.
 */
import { sql } from 'kysely';
import type { Store, Tx } from '../../store/store.ts';
import { createCallLimit } from './call-limit.ts';

const WINDOW_MS = 60_000;
/** The most calls that a process takes at a time, and the fraction of the remaining ones. */
const PORTION = 10;
const PART = 20;

/** Counts a call. Returns the seconds to wait if there were too many. */
export type SharedCallLimit = (who: string) => Promise<number | undefined>;

export interface SharedCallLimitOptions {
  readonly store: Store;
  readonly name: string;
  /** Calls of each caller in the minute that begins with its first. */
  readonly limit: number;
  readonly now: () => number;
}

interface Window {
  readonly from: number;
  made: number;
  /** Calls that this process may make without asking the store. */
  granted: number;
  /** Calls that remained for all when this process last asked. */
  left: number;
}

export function createSharedCallLimit(options: SharedCallLimitOptions): SharedCallLimit {
  const { store, limit, now } = options;
  if (store.engine === 'postgres') return countInStore(options);
  const count = createCallLimit(limit, now);
  return async (who) => count(who);
}

function countInStore({ store, name, limit, now }: SharedCallLimitOptions): SharedCallLimit {
  const windows = new Map<string, Window>();
  const asking = new Map<string, Promise<Window>>();

  async function refill(who: string, before: Window | undefined): Promise<Window> {
    const at = now();
    const made = before?.made ?? 0;
    const left = before?.left ?? limit;
    // At most as many as it already made: a process that makes one call a minute takes nothing from the others.
    const asked = Math.max(1, Math.min(PORTION, made, Math.floor(left / PART)));
    const { since, taken } = await store.write((tx) => takeCalls(tx, `${name} ${who}`, asked, at));
    const granted = Math.max(0, Math.min(asked, limit - (taken - asked)));
    return { from: since, made: since === before?.from ? made : 0, granted, left: Math.max(0, limit - taken) };
  }

  async function ask(who: string, before: Window | undefined): Promise<Window> {
    const running = asking.get(who) ?? refill(who, before).finally(() => asking.delete(who));
    asking.set(who, running);
    const window = await running;
    windows.set(who, window);
    return window;
  }

  // Clocks of machines differ: one that is behind must not restart a window that another began.
  const isOver = ({ from }: Window): boolean => Math.abs(now() - from) >= WINDOW_MS;

  /** The window of a call, refilled if it is empty and calls remain. */
  async function windowOf(who: string): Promise<Window> {
    const known = windows.get(who);
    if (known === undefined || isOver(known)) return ask(who, undefined);
    return known.granted === 0 && known.left > 0 ? ask(who, known) : known;
  }

  return async (who) => {
    for (;;) {
      const window = await windowOf(who);
      if (window.granted > 0) {
        window.granted -= 1;
        window.made += 1;
        return undefined;
      }
      if (window.left === 0) return Math.max(1, Math.ceil((window.from + WINDOW_MS - now()) / 1_000));
    }
  };
}

/** Takes calls from the current window or a new one; `taken` counts them, also above the limit. */
function takeCalls(tx: Tx, key: string, calls: number, now: number): Promise<{ since: number; taken: number }> {
  const over = sql<boolean>`call_window.since <= ${now - WINDOW_MS} or call_window.since > ${now + WINDOW_MS}`;
  return tx
    .insertInto('call_window')
    .values({ key, since: now, taken: calls })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        since: sql<number>`case when ${over} then excluded.since else call_window.since end`,
        taken: sql<number>`case when ${over} then excluded.taken else call_window.taken + excluded.taken end`,
      }),
    )
    .returning(['since', 'taken'])
    .executeTakeFirstOrThrow();
}

const DAY_MS = 86_400_000;

/** Deletes windows older than a day. */
export async function trimWindows(tx: Tx, now: number): Promise<void> {
  await tx
    .deleteFrom('call_window')
    .where('since', '<', now - DAY_MS)
    .execute();
}
