/** How much longer work takes when its input is eight times as long: about 8 for linear work, 64 for quadratic work. */
const FACTOR = 8;
const TRIES = 5;

/** The ratio of the shortest of several runs each, so that a busy machine disturbs neither. */
export function growthOf(run: (length: number) => void, length: number): number {
  const shortest = (size: number): number => {
    const times = Array.from({ length: TRIES }, () => {
      const began = performance.now();
      run(size);
      return performance.now() - began;
    });
    // Work of microseconds is below what the clock and the compiler let one compare.
    return Math.max(Math.min(...times), 0.5);
  };
  return shortest(length * FACTOR) / shortest(length);
}

/** Above what linear work takes with all its noise, and far below quadratic work. */
export const MOST_LINEAR_GROWTH = 30;
