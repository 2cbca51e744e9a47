/** Group commit: one transaction for what many callers have to write, since a commit costs as much for one as for a hundred. */

export interface GroupCommitOptions<T, R> {
  /** Writes a batch in one transaction, and says what became of each entry, in their order. */
  readonly write: (batch: readonly T[]) => Promise<readonly R[]>;
  /** A larger batch saves no more. */
  readonly batchSize: number;
  /** The longest an entry waits for others while each turn of the event loop brings more. */
  readonly waitMs: number;
  /** After a batch of `size` or more the next one waits this long, whether more come or not. */
  readonly burst?: { readonly size: number; readonly waitMs: number };
  /** Begins a batch, and says of each entry whether it may stand in it; absent where all may. */
  readonly beginBatch?: () => (entry: T) => boolean;
  /** Told of each batch that could not be written, before its entries are tried one by one. */
  readonly onFailure?: (error: unknown, batch: readonly T[]) => void;
}

export interface GroupCommit<T, R> {
  /** Resolves once the entry is on disk. Rejects where it could not be written, and then only for this one. */
  add(entry: T): Promise<R>;
  /** How many entries wait. */
  waiting(): number;
  /** Resolves when nothing waits and nothing is being written. */
  settled(): Promise<void>;
}

interface Waiting<T, R> {
  readonly entry: T;
  resolve(result: R): void;
  reject(error: unknown): void;
}

/** A batch that took this long to fail met a store that is locked or away, not one row it would not take. */
const PATIENCE_MS = 2_000;

export function createGroupCommit<T, R>(options: GroupCommitOptions<T, R>): GroupCommit<T, R> {
  const { write, batchSize, waitMs, burst, beginBatch, onFailure } = options;
  let waiting: Waiting<T, R>[] = [];
  let flushing: Promise<void> | undefined;
  let isBurst = false;

  async function flushAll(): Promise<void> {
    while (waiting.length > 0) {
      await collect();
      await flush(nextBatch());
    }
    // At once, not when this function's promise settles: an entry that comes in between must start the next.
    flushing = undefined;
  }

  /** Waits for the entries of this turn of the event loop, and of the next ones while each brings more. */
  async function collect(): Promise<void> {
    const until = performance.now() + (isBurst ? (burst?.waitMs ?? 0) : waitMs);
    for (let before = 0; waiting.length < batchSize && performance.now() < until; ) {
      if (waiting.length === before && !isBurst) break;
      before = waiting.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    isBurst = burst !== undefined && waiting.length >= burst.size;
  }

  function nextBatch(): readonly Waiting<T, R>[] {
    if (beginBatch === undefined) return waiting.splice(0, batchSize);
    const mayJoin = beginBatch();
    const batch: Waiting<T, R>[] = [];
    const rest: Waiting<T, R>[] = [];
    for (const one of waiting) (batch.length < batchSize && mayJoin(one.entry) ? batch : rest).push(one);
    waiting = rest;
    return batch;
  }

  async function flush(batch: readonly Waiting<T, R>[]): Promise<void> {
    const began = performance.now();
    try {
      await store(batch);
    } catch (error) {
      onFailure?.(
        error,
        batch.map(({ entry }) => entry),
      );
      await storeSingly(batch, error, began + PATIENCE_MS);
    }
  }

  async function store(batch: readonly Waiting<T, R>[]): Promise<void> {
    const results = await write(batch.map(({ entry }) => entry));
    for (const [index, one] of batch.entries()) {
      const result = results[index];
      if (result === undefined) one.reject(new Error('a batch was written without saying what became of an entry'));
      else one.resolve(result);
    }
  }

  /** A row that the store would not take fails alone; who has waited long is told at once. */
  async function storeSingly(batch: readonly Waiting<T, R>[], cause: unknown, until: number): Promise<void> {
    let last = cause;
    const isLate = performance.now() > until;
    for (const one of isLate ? [...batch, ...waiting.splice(0)] : batch) {
      if (batch.length === 1 || performance.now() > until) {
        one.reject(last);
        continue;
      }
      try {
        await store([one]);
      } catch (error) {
        last = error;
        one.reject(error);
      }
    }
  }

  return {
    add(entry) {
      return new Promise((resolve, reject) => {
        waiting.push({ entry, resolve, reject });
        flushing ??= flushAll();
      });
    },
    waiting: () => waiting.length,
    settled: async () => {
      await flushing;
    },
  };
}
