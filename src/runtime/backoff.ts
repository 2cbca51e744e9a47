/**
 * How long to wait, in ms, before the try after `attempts` failures (1 or more): `baseMs`, then times `factor` for each
 * further failure, up to `capMs`. The jitter only makes it later, by up to a fifth, so that no promise of a pause is broken.
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
