/** The largest number of times that fall into any window of `length` ms. */
export function mostInAnyWindow(times: readonly number[], length: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  let most = 0;
  let from = 0;
  for (const [index, time] of sorted.entries()) {
    while (time - (sorted[from] ?? time) >= length) from++;
    most = Math.max(most, index - from + 1);
  }
  return most;
}
