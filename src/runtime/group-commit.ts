/**
 * Group commit: writes the entries of many callers in one transaction, because a commit costs the same for one as for a
 * hundred.
 */

export interface GroupCommitOptions<T, R> {
  /** Writes a batch in one transaction and returns a result for each entry, in order. */
  readonly write: (batch: readonly T[]) => Promise<readonly R[]>;
  readonly batchSize: number;
  /** The longest that an entry waits for others while each turn of the event loop brings more. */
  readonly waitMs: number;
  /** After a batch of `size` or more, the next one always waits this long. */
  readonly burst?: { readonly size: number; readonly waitMs: number };
  /** Begins a batch; the result says whether an entry may join it. By default all may. */
  readonly beginBatch?: () => (entry: T) => boolean;
  /** Called with each batch that failed, before its entries are tried one by one. */
  readonly onFailure?: (error: unknown, batch: readonly T[]) => void;
}

export interface GroupCommit<T, R> {
  /** Resolves once the entry is on disk; rejects only for this entry. */
  add(entry: T): Promise<R>;
  waiting(): number;
  /** Resolves when nothing waits and no write runs. */
  settled(): Promise<void>;
}

interface Waiting<T, R> {
  readonly entry: T;
  resolve(result: R): void;
  reject(error: unknown): void;
}

/** A batch that took longer to fail met a locked or absent store, not one bad row. */
const PATIENCE_MS = 2_000;

export function createGroupCommit<T, R>(options: GroupCommitOptions<T, R>): GroupCommit<T, R> {
  const { write, batchSize, waitMs, burst, beginBatch, onFailure } = options;
  let waiting: Waiting<T, R>[] = [];
  let flushing: Promise<void> | undefined;
  let isBurst = false;
  let onFull: (() => void) | undefined;

  async function flushAll(): Promise<void> {
    while (waiting.length > 0) {
      await collect();
      await flush(nextBatch());
    }
    // Not when this promise settles: an entry that arrives in between must start the next flush.
    flushing = undefined;
  }

  async function collect(): Promise<void> {
    if (burst !== undefined && isBurst) await fullOrAfter(burst.waitMs);
    else await whileMoreCome();
    isBurst = burst !== undefined && waiting.length >= burst.size;
  }

  /** Waits for the entries of this turn of the event loop, and of later turns while each brings more. */
  async function whileMoreCome(): Promise<void> {
    const until = performance.now() + waitMs;
    for (let before = 0; waiting.length > before && waiting.length < batchSize && performance.now() < until; ) {
      before = waiting.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function fullOrAfter(ms: number): Promise<void> {
    if (waiting.length >= batchSize) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      onFull = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    onFull = undefined;
  }

  function nextBatch(): readonly Waiting<T, R>[] {
    const { batch, rest } = parted(waiting, batchSize, beginBatch?.());
    waiting = rest;
    return batch;
  }

  async function flush(batch: readonly Waiting<T, R>[]): Promise<void> {
    const began = performance.now();
    try {
      await store(write, batch);
    } catch (error) {
      onFailure?.(
        error,
        batch.map(({ entry }) => entry),
      );
      await storeSingly(batch, error, began + PATIENCE_MS);
    }
  }

  /** Only the bad row fails. After {@link PATIENCE_MS} all remaining entries fail at once. */
  async function storeSingly(batch: readonly Waiting<T, R>[], cause: unknown, until: number): Promise<void> {
    let last = cause;
    const isLate = performance.now() > until;
    for (const one of isLate ? [...batch, ...waiting.splice(0)] : batch) {
      if (batch.length === 1 || performance.now() > until) {
        one.reject(last);
        continue;
      }
      try {
        await store(write, [one]);
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
        if (waiting.length >= batchSize) onFull?.();
        flushing ??= flushAll();
      });
    },
    waiting: () => waiting.length,
    settled: async () => {
      await flushing;
    },
  };
}

function parted<T, R>(waiting: readonly Waiting<T, R>[], batchSize: number, mayJoin?: (entry: T) => boolean) {
  if (mayJoin === undefined) return { batch: waiting.slice(0, batchSize), rest: waiting.slice(batchSize) };
  const batch: Waiting<T, R>[] = [];
  const rest: Waiting<T, R>[] = [];
  for (const one of waiting) (batch.length < batchSize && mayJoin(one.entry) ? batch : rest).push(one);
  return { batch, rest };
}

async function store<T, R>(write: GroupCommitOptions<T, R>['write'], batch: readonly Waiting<T, R>[]): Promise<void> {
  const results = await write(batch.map(({ entry }) => entry));
  for (const [index, one] of batch.entries()) {
    const result = results[index];
    if (result === undefined) one.reject(new Error('a batch write returned no result for an entry'));
    else one.resolve(result);
  }
}
