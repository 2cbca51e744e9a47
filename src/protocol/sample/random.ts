/** Repeatable random numbers for sample data: the same seed gives the same numbers on every machine. */

export interface Random {
  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
  chance(share: number): boolean;
}

/** Mulberry32, https://github.com/cprosche/mulberry32: small, fast and good enough for samples, not for secrets. */
export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    int,
    pick: (list) => list[int(0, list.length - 1)] ?? list[0],
    chance: (share) => next() < share,
  };
};
