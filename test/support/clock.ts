/** A clock for tests that cannot wait: the machine's, set on by hand. */
export interface HandClock {
  now(): number;
  forward(ms: number): void;
}

export function handClock(): HandClock {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    forward(ms) {
      ahead += ms;
    },
  };
}
