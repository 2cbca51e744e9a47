/** Figures that take long to count: read now and then, and shown as they were last read. */

/** Figures that are older than this are not shown: a page that is open reads them more often. */
const OLDEST_MS = 60_000;

/**
 * Gives what was read last, and also reads it again if it is older than `ms`. Only who finds nothing, or figures of
 * more than a minute ago, waits for the reading. Where a read fails, the last figures stand until then.
 */
export function recently<T>(ms: number, elapsed: () => number, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly value: T } | undefined;
  let reading: Promise<T> | undefined;
  const readAnew = async (): Promise<T> => {
    const at = elapsed();
    const value = await read();
    last = { at, value };
    return value;
  };
  return async () => {
    if (last !== undefined && elapsed() - last.at < ms) return last.value;
    reading ??= readAnew().finally(() => {
      reading = undefined;
    });
    if (last === undefined || elapsed() - last.at > OLDEST_MS) return reading;
    reading.catch(() => undefined);
    return last.value;
  };
}
