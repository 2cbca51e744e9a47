/** How much longer work takes when its input is eight times as long: about 8 for linear work, 64 for quadratic work. */
const FACTOR = 8;
/** Work is counted in ticks of a few milliseconds: less than this says little. */
const LEAST_CPU_MS = 60;

/** A shorter run fits into a cache that the long one does not. */
const LEAST_RUN_MS = 0.5;

/** Above what linear work takes with all its noise, and far below quadratic work. */
export const MOST_LINEAR_GROWTH = 30;

/**
 * The ratio of what one run costs with the long input and with the short one, each repeated until it can be compared. It
 * is the time that this thread computed, not the time that passed: on a busy machine a long run waits, a short one not.
 */
export function growthOf(run: (length: number) => void, length: number): number {
  const cost = (size: number): number => {
    let [runs, spent] = [0, 0];
    const before = process.threadCpuUsage();
    while (spent < LEAST_CPU_MS) {
      run(size);
      runs++;
      const { user, system } = process.threadCpuUsage(before);
      spent = (user + system) / 1_000;
    }
    return Math.max(spent / runs, LEAST_RUN_MS);
  };
  run(length);
  return cost(length * FACTOR) / cost(length);
}
