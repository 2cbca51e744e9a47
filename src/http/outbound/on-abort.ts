const hearers = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `hear` when the signal aborts; the result removes it. The signal gets one listener for all: with a thousand of
 * them, an EventTarget takes longer to add or remove one than it takes to sign a request.
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
