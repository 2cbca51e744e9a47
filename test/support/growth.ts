/** How much longer work takes when its input is eight times as long: about 8 for linear work, 64 for quadratic work. */
const FACTOR = 8;
/** Work is counted in ticks of a few milliseconds: less than this says little. */
const LEAST_CPU_MS = 60;
/** A shorter run fits into a cache that the long one does not. */
const LEAST_RUN_MS = 0.5;
/** What a host takes from a virtual machine is counted as work, too: it may fall into some rounds, but not into all. */
const ROUNDS = 12;

/** Above what linear work takes with all its noise, and far below quadratic work. */
export const MOST_LINEAR_GROWTH = 30;

/**
 * The ratio of what one run costs with the long input and with the short one, at the least of a few rounds. It is the time
 * that this thread computed, not the time that passed: on a busy machine a long run waits, a short one not.
 */
export function growthOf(run: (length: number) => void, length: number): number {
  // The compiler has done its work after that: what is measured first would seem to cost more.
  costOf(() => run(length));
  let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round === 0 || (round < ROUNDS && long / short >= MOST_LINEAR_GROWTH); round++) {
    short = Math.min(
      short,
      costOf(() => run(length)),
    );
    long = Math.min(
      long,
      costOf(() => run(length * FACTOR)),
    );
  }
  return long / short;
}

/** What a run costs on average, in ms of this thread's computing. */
function costOf(run: () => void): number {
  let [runs, spent] = [0, 0];
  const before = process.threadCpuUsage();
  while (spent < LEAST_CPU_MS) {
    run();
    runs++;
    const { user, system } = process.threadCpuUsage(before);
    spent = (user + system) / 1_000;
  }
  return Math.max(spent / runs, LEAST_RUN_MS);
}
