/** Who hears of the abort of a signal that many requests share. */

const hearers = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when the signal aborts, unless the function that it returns was called before. The signal has one listener
 * for all: to add and to remove one of a thousand takes an EventTarget longer than to sign a request.
 */
export function onAbort(signal: AbortSignal, hear: () => void): () => void {
  const known = hearers.get(signal) ?? listenTo(signal);
  known.add(hear);
  return () => known.delete(hear);
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const all = new Set<() => void>();
  hearers.set(signal, all);
  signal.addEventListener(
    'abort',
    () => {
      for (const hear of all) hear();
    },
    { once: true },
  );
  return all;
}
