/** A clock for tests that cannot wait: the machine's, set on by hand. */
export interface HandClock {
  now(): number;
  forward(ms: number): void;
  /** Calls this whenever the clock is set on. */
  watch(listener: () => void): void;
}

export function handClock(): HandClock {
  let ahead = 0;
  const listeners: (() => void)[] = [];
  return {
    now: () => Date.now() + ahead,
    forward(ms) {
      ahead += ms;
      for (const listener of listeners) listener();
    },
    watch: (listener) => void listeners.push(listener),
  };
}
