/** Waits `ms`, or until the signal aborts. Resolves in both cases: check the signal. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    // A longer timer would fire at once.
    const timer = setTimeout(end, Math.min(Math.ceil(ms), 2 ** 31 - 1));
    signal.addEventListener('abort', end);
  });
}
