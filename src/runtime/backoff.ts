/**
 * The wait in ms after `attempts` failures (1 or more): `baseMs`, times `factor` for each further failure, up to
 * `capMs`. Jitter adds up to a fifth and never shortens the wait, so that promised pauses hold.
 */
export function backoff(
  attempts: number,
  options: { readonly baseMs?: number; readonly factor?: number; readonly capMs?: number } = {},
  random: () => number = Math.random,
): number {
  const { baseMs = 1_000, factor = 2, capMs = 15 * 60_000 } = options;
  const wait = Math.min(capMs, baseMs * factor ** Math.max(0, attempts - 1));
  return Math.round(wait * (1 + 0.2 * random()));
}
