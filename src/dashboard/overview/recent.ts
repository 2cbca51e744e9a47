/** Older figures are not shown; an open page reads them more often. */
const OLDEST_MS = 60_000;

/**
 * Returns the last reading, and starts another if it is older than `ms`. Waits for it only if there is no reading, or
 * one of more than a minute ago. If a read fails, the last reading stays until then.
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
