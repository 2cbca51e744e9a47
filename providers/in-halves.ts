/** Cuts a batch in two, to find the one in it that a call fails for. */

/** The halves of a batch, the first one larger where its number is odd; no half is empty. */
export function inHalves<T>(batch: readonly T[]): readonly (readonly T[])[] {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)].filter((half) => half.length > 0);
}
