/** How much longer work takes when its input is eight times as long: about 8 for linear work, 64 for quadratic work. */
const FACTOR = 8;
const TRIES = 5;
/** A busy machine may disturb a few runs, but not each of so many. */
const MOST_TRIES = 40;
/** Work of microseconds is below what the clock and the compiler let one compare. */
const LEAST_MS = 0.5;

/** Above what linear work takes with all its noise, and far below quadratic work. */
export const MOST_LINEAR_GROWTH = 30;

/** The ratio of the shortest of several runs each; of more of them where it looks as if the growth was not linear. */
export function growthOf(run: (length: number) => void, length: number): number {
  const took = (size: number): number => {
    const began = performance.now();
    run(size);
    return performance.now() - began;
  };
  let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const growth = (): number => Math.max(long, LEAST_MS) / Math.max(short, LEAST_MS);
  for (let tries = 0; tries < TRIES || (tries < MOST_TRIES && growth() >= MOST_LINEAR_GROWTH); tries++) {
    short = Math.min(short, took(length));
    long = Math.min(long, took(length * FACTOR));
  }
  return growth();
}
