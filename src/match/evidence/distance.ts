/** Edit distance. */

/**
 * Whether at most `most` edits turn one text into the other: insert, delete, replace, swap neighbours. Time grows with
 * length times `most`.
 */
export function isWithin(a: string, b: string, most: number): boolean {
  if (Math.abs(a.length - b.length) > most) return false;
  if (a === b || most === 0) return a === b;
  // Skip the common beginning and end: most texts differ in the middle or everywhere.
  const begin = sharedBegin(a, b);
  const end = sharedEnd(a, b, begin);
  return isWithinRows(a.slice(begin, a.length - end), b.slice(begin, b.length - end), most);
}

function sharedBegin(a: string, b: string): number {
  let count = 0;
  while (count < a.length && a[count] === b[count]) count += 1;
  return count;
}

function sharedEnd(a: string, b: string, begin: number): number {
  const most = Math.min(a.length, b.length) - begin;
  let count = 0;
  while (count < most && a.at(-1 - count) === b.at(-1 - count)) count += 1;
  return count;
}

function isWithinRows(a: string, b: string, most: number): boolean {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row += 1) {
    const next = rowOf({ a, b, row, most }, last, before);
    if (next.every((changes) => changes > most)) return false;
    before = last;
    last = next;
  }
  return (last[b.length] ?? most + 1) <= most;
}

interface Row {
  readonly a: string;
  readonly b: string;
  readonly row: number;
  readonly most: number;
}

function rowOf({ a, b, row, most }: Row, last: readonly number[], before: readonly number[]): number[] {
  const far = most + 1;
  const next = Array.from({ length: b.length + 1 }, () => far);
  next[0] = row;
  for (let at = Math.max(1, row - most); at <= Math.min(b.length, row + most); at += 1) {
    const isEqual = a[row - 1] === b[at - 1];
    const isSwap = row > 1 && at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1];
    next[at] = Math.min(
      (last[at] ?? far) + 1,
      (next[at - 1] ?? far) + 1,
      (last[at - 1] ?? far) + (isEqual ? 0 : 1),
      isSwap ? (before[at - 2] ?? far) + 1 : far,
    );
  }
  return next;
}
