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
  /** Ends the wait of a burst. */
  let onFull: (() => void) | undefined;

  async function flushAll(): Promise<void> {
    while (waiting.length > 0) {
      await collect();
      await flush(nextBatch());
    }
    // At once, not when this function's promise settles: an entry that comes in between must start the next.
    flushing = undefined;
  }

  async function collect(): Promise<void> {
    if (burst !== undefined && isBurst) await fullOrAfter(burst.waitMs);
    else await whileMoreCome();
    isBurst = burst !== undefined && waiting.length >= burst.size;
  }

  /** Waits for the entries of this turn of the event loop, and of the next ones while each brings more. */
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

/** The entries of the next batch, and those that wait for a later one; in a batch stand only those that may join it. */
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
    if (result === undefined) one.reject(new Error('a batch was written without saying what became of an entry'));
    else one.resolve(result);
  }
}
