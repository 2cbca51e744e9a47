/** Writes what many runs have to write in few transactions: a commit costs as much for one attempt as for a hundred. */
import type { Store } from '../../store/store.ts';
import { type Entry, type RecordedAttempt, type RecordOptions, record } from './record.ts';

export interface Ledger {
  /** Resolves once the entry is on disk. Rejects where it could not be written, and then only for this one. */
  write(entry: Entry): Promise<RecordedAttempt>;
}

export interface LedgerOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly admin?: string | undefined;
  /** Something was written that a mail may follow from. */
  readonly onWritten: () => void;
}

interface Waiting {
  readonly entry: Entry;
  resolve(written: RecordedAttempt): void;
  reject(error: unknown): void;
}

const BATCH = 512;
/** The longest an entry waits for company, and in a crowd: nothing but the next of its company waits for it. */
const GATHER_MS = 2;
const CROWD_MS = 25;
const CROWD = 16;
/** A batch that took this long to fail met a store that is locked or away, not one row it would not take. */
const PATIENCE_MS = 2_000;

export function createLedger({ store, now, admin, onWritten }: LedgerOptions): Ledger {
  let waiting: Waiting[] = [];
  let flushing = false;
  let crowded = false;

  async function flushAll(): Promise<void> {
    while (waiting.length > 0) {
      await gather();
      const { batch, rest } = take(waiting);
      waiting = rest;
      const began = performance.now();
      try {
        await flush(batch);
      } catch (error) {
        const isStuck = batch.length === 1 || performance.now() - began > PATIENCE_MS;
        if (!isStuck) await flushSingly(batch);
        else for (const { reject } of batch) reject(error);
      }
    }
    // At once, not when this function's promise settles: an entry that comes in between must start the next.
    flushing = false;
  }

  /** Waits for the answers of this event-loop turn, and of the next ones while each brings more or many came at once. */
  async function gather(): Promise<void> {
    const until = performance.now() + (crowded ? CROWD_MS : GATHER_MS);
    for (let before = 0; waiting.length < BATCH && performance.now() < until; ) {
      if (waiting.length === before && !crowded) break;
      before = waiting.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    crowded = waiting.length >= CROWD;
  }

  async function flush(batch: readonly Waiting[]): Promise<void> {
    const options: RecordOptions = { now: now(), admin };
    const entries = batch.map(({ entry }) => entry);
    const written = await store.write((tx) => record(tx, entries, options));
    if (entries.some(({ result }) => result !== undefined && result.state !== 'done')) onWritten();
    for (const { entry, resolve } of batch) resolve(written.get(entry) ?? 'lost');
  }

  /** What the store would not take fails alone. */
  async function flushSingly(batch: readonly Waiting[]): Promise<void> {
    for (const one of batch) await flush([one]).catch(one.reject);
  }

  return {
    write(entry) {
      return new Promise((resolve, reject) => {
        waiting.push({ entry, resolve, reject });
        if (flushing) return;
        flushing = true;
        void flushAll();
      });
    },
  };
}

/** The next batch: of one lane only one claim, since an older one may have lost it to a newer. */
function take(waiting: readonly Waiting[]): { readonly batch: readonly Waiting[]; readonly rest: Waiting[] } {
  const epochs = new Map<string, number>();
  const batch: Waiting[] = [];
  const rest: Waiting[] = [];
  for (const one of waiting) {
    const { key, fence } = one.entry.claim;
    const first = epochs.get(key) ?? fence;
    if (first !== fence || batch.length >= BATCH) {
      rest.push(one);
      continue;
    }
    epochs.set(key, fence);
    batch.push(one);
  }
  return { batch, rest };
}
