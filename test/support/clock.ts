/** Clocks for tests that cannot wait. */
export interface HandClock {
  now(): number;
  forward(ms: number): void;
  /** Calls this whenever the clock is set on. */
  watch(listener: () => void): void;
}

/** The machine's, set on by hand. */
export const handClock = (): HandClock => clockFrom(() => Date.now());

/** One that stands still until it is set on: however slow the machine is, no limit of time ends by itself. */
export function stillClock(): HandClock {
  const start = Date.now();
  return clockFrom(() => start);
}

function clockFrom(machine: () => number): HandClock {
  let ahead = 0;
  const listeners: (() => void)[] = [];
  return {
    now: () => machine() + ahead,
    forward(ms) {
      ahead += ms;
      for (const listener of listeners) listener();
    },
    watch: (listener) => void listeners.push(listener),
  };
}
