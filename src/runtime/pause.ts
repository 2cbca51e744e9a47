/** Waits `ms`, or less where the signal aborts. Resolves either way: the caller looks at the signal. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    // Longer than a timer can count, and it would fire at once.
    const timer = setTimeout(end, Math.min(Math.ceil(ms), 2 ** 31 - 1));
    signal.addEventListener('abort', end);
  });
}
