/** Edit distance of two texts: insert, delete, replace, swap neighbours. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? at(before, j - 2) + 1 : Number.POSITIVE_INFINITY;
      row[j] = Math.min(at(above, j) + 1, at(row, j - 1) + 1, at(above, j - 1) + cost, swap);
    }
    before = above;
    above = row;
  }
  return at(above, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? 0;

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_. ]/g, '');

/** Undefined if no name is near. Ignores case and separators. */
function nearest(typed: string, names: readonly string[]): string | undefined {
  const given = plain(typed.slice(0, 100));
  const limit = Math.max(1, Math.floor(given.length / 3));
  const ranked = names
    .map((name) => ({ name, edits: distance(given, plain(name)) }))
    .filter(({ edits }) => edits <= limit)
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.name;
}

/** The end of a sentence that names the nearest name, or an empty text. */
export const didYouMean = (typed: string, names: readonly string[]): string => {
  const name = nearest(typed, names);
  return name === undefined ? '' : `; did you mean ${name}?`;
};
