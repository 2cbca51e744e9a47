/**
 * Compares the number of documents in the source with the number stored; nothing else detects a load that lost
 * documents. It asks the source first, reads the source to its end once more, then counts the store, so that documents
 * that arrive meanwhile make no difference. If documents are missing, the source is reread from its beginning, in
 * addition to what is new.
 */
import { sql } from 'kysely';
import { isJsonObject } from '../../../protocol/text/json.ts';
import { backoff } from '../../../runtime/backoff.ts';
import { type Claim, settle } from '../../../runtime/lanes/lanes.ts';
import { readValue, writeValue } from '../../../store/kv.ts';
import type { Db } from '../../../store/store.ts';
import { type RegisterSource, SourceError } from '../source/source.ts';
import { WATCH_QUEUE, type WatchDeps } from './ingest-page.ts';
import { cursorKey, LeaseLost, MOST_BACKOFF_MS, readLane, sweepKey } from './watch-page.ts';

export interface DocumentCount {
  readonly part: string;
  readonly source: number;
  readonly stored: number;
}

export interface RegisterCount {
  readonly at: number;
  readonly counts: readonly DocumentCount[];
}

interface CountState {
  readonly last?: RegisterCount;
  /** The source's numbers, until the store is counted. */
  readonly asked?: { readonly at: number; readonly counts: Readonly<Record<string, number>> };
  /** Whether a full reread runs since the newest count. */
  readonly isSwept?: boolean;
  /** How many documents of each part the newest count missed, after a reread if one was needed. */
  readonly remain?: Readonly<Record<string, number>>;
  /** How many documents are rightly not stored. */
  readonly explained?: number;
}

const KEY = 'register-count';
const STORED: Readonly<Record<string, readonly [after: string, last: string]>> = {
  companies: ['CVR-1-', 'CVR-1-99999999'],
  'production units': ['CVR-2-', 'CVR-2-9999999999'],
};
/** This many rows take some milliseconds. */
const STEP = 10_000;
const SOON_MS = 60_000;
const IDLE_MS = 3_600_000;
const EVERY_MS = 24 * 3_600_000;

/** Undefined before the first count, or if the source cannot count. */
export const readCount = async (db: Db): Promise<RegisterCount | undefined> => (await readState(db)).last;

/** The parts with fewer stored documents than the source holds; during a reread only those without an explanation. */
export async function readMissing(db: Db): Promise<readonly DocumentCount[]> {
  const { last, isSwept, explained = 0 } = await readState(db);
  const most = isSwept === true ? 0 : explained;
  return last?.counts.filter(({ source, stored }) => source - stored > most) ?? [];
}

/** How many documents are rightly not stored: erased or unreadable ones. */
async function countExplained(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`select cast((select count(*) from erasure)
    + (select count(*) from quarantine where source = 'register') as bigint) as count`.execute(db);
  return rows[0]?.count ?? 0;
}

/** One step of a count: waits for a load to end, asks the source, or counts the store and compares. */
export async function watchCount(
  deps: WatchDeps,
  source: RegisterSource,
  claim: Claim,
  signal: AbortSignal,
): Promise<void> {
  const { store, now, log } = deps;
  const state = await readState(store.db);
  const again = async (next: CountState, wait: number, error?: string): Promise<void> => {
    const isSweep = next.isSwept === true && state.isSwept !== true;
    await store.write(async (tx) => {
      const at = now() + wait;
      const settlement = error === undefined ? { at, fresh: true as const } : { at, error: error.slice(0, 500) };
      if (!(await settle(tx, claim, { kind: 'again', ...settlement }))) throw new LeaseLost();
      if (next !== state) await writeValue(tx, KEY, JSON.stringify(next), now());
      if (isSweep) await writeValue(tx, sweepKey(source), '1', now());
    });
    if (isSweep) deps.wakeUp.ring(WATCH_QUEUE);
  };
  const { asked } = state;
  const isDue = state.isSwept === true || now() - (state.last?.at ?? 0) >= EVERY_MS;
  if (asked === undefined && !isDue) return await again(state, IDLE_MS);
  const parts = await readParts(store.db, source);
  const reachedEnd = parts.length > 0 && parts.every(({ more, readAt }) => !more && readAt > (asked?.at ?? 0));
  if (!reachedEnd) return await again(state, SOON_MS);
  if (asked !== undefined) {
    const counts = await countBeside(store.db, asked.counts, signal);
    const next = stateAfterCount(state, { at: asked.at, counts }, await countExplained(store.db));
    if (next.isSwept === true)
      log.warn({ counts: next.last?.counts }, 'documents are missing: reading everything again');
    return await again(next, SOON_MS);
  }
  try {
    const at = now();
    await again({ ...state, asked: { at, counts: (await source.count?.(signal)) ?? {} } }, SOON_MS);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const wait = Math.max(error.retryAfterMs ?? 0, backoff(claim.attempts + 1, { capMs: MOST_BACKOFF_MS }));
    await again(state, wait, error.message);
  }
}

/** The state after a count. A reread begins if more is missing than after the last count, and nothing explains it. */
function stateAfterCount(state: CountState, last: RegisterCount, explained: number): CountState {
  const { isSwept, remain = {}, explained: before = 0 } = state;
  const newlyExplained = Math.max(0, explained - before);
  const missing = Object.fromEntries(
    last.counts.map(({ part, source, stored }) => [part, Math.max(0, source - stored)]),
  );
  const isMore = Object.entries(missing).some(([part, count]) => count > (remain[part] ?? 0) + newlyExplained);
  if (isMore && isSwept !== true) return { last, remain, explained: before, isSwept: true };
  return { last, remain: missing, explained };
}

/** How far each part is read; empty if a requested sweep has not begun, or if the pages fail. */
async function readParts(db: Db, source: RegisterSource) {
  // The lane of the pages reports an outage: a count would report it again, and for longer.
  if (((await readLane(db, source))?.error ?? null) !== null) return [];
  if ((await readValue(db, sweepKey(source))) !== undefined) return [];
  const cursor = await readValue(db, cursorKey(source));
  return cursor === undefined ? [] : Object.values(source.parts?.(cursor) ?? {});
}

async function countBeside(
  db: Db,
  held: Readonly<Record<string, number>>,
  signal: AbortSignal,
): Promise<readonly DocumentCount[]> {
  const counts: DocumentCount[] = [];
  for (const [part, source] of Object.entries(held))
    counts.push({ part, source, stored: await countStored(db, part, signal) });
  return counts;
}

/** Counts in steps: one statement over two million rows would block the thread for seconds. */
async function countStored(db: Db, part: string, signal: AbortSignal): Promise<number> {
  const [first, end] = STORED[part] ?? ['', ''];
  let count = 0;
  let after: string | null = first;
  while (after !== null) {
    signal.throwIfAborted();
    const step = await countStep(db, after, end);
    count += step?.count ?? 0;
    after = step?.last ?? null;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return count;
}

async function countStep(db: Db, after: string, end: string) {
  const step = db.selectFrom('snapshot').select('entity').where('entity', '>', after).where('entity', '<=', end);
  const { rows } = await sql<{ count: number; last: string | null }>`select cast(count(*) as bigint) as count,
    max(entity) as last from ${step.orderBy('entity').limit(STEP)} as step`.execute(db);
  return rows[0];
}

async function readState(db: Db): Promise<CountState> {
  const json: unknown = JSON.parse((await readValue(db, KEY)) ?? '{}');
  // Only this file writes it.
  return isJsonObject(json) ? (json as CountState) : {};
}
