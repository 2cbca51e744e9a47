import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, type Pair } from 'yaml';

/** Finds the offset of the value at a path, or with `key` of its key; if it is absent, of the nearest section above it. */
export function offsetOf(document: Document, path: string, part: 'key' | 'value'): number {
  let found: Place = { node: document.contents };
  let rest = path;
  while (rest !== '') {
    const next = stepInto(document, found.node, rest);
    // A missing key is reported at its section.
    if (next === undefined) return startOf(found.key) ?? startOf(found.node) ?? 0;
    found = next;
    rest = next.rest;
  }
  const first = part === 'key' || !isScalar(found.node) ? found.key : found.node;
  return startOf(first) ?? startOf(found.key) ?? startOf(found.node) ?? 0;
}

interface Place {
  readonly key?: unknown;
  readonly node: unknown;
}

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

export const keyText = (pair: Pair): string => (isScalar(pair.key) ? String(pair.key.value) : '');

/** One step of a path; a key may itself contain dots, so the longest key that fits counts. */
function stepInto(document: Document, from: unknown, rest: string): (Place & { readonly rest: string }) | undefined {
  const node = target(document, from);
  if (isSeq(node)) {
    const [index = ''] = rest.split('.', 1);
    const item: unknown = node.items[Number(index)];
    return item === undefined ? undefined : { node: item, key: item, rest: rest.slice(index.length + 1) };
  }
  const fits = pairsOf(document, node)
    .flatMap((pair) => [keyText(pair), keyText(pair).replace(/_FILE$/, '')].map((name) => ({ pair, name })))
    .filter(({ name }) => rest === name || rest.startsWith(`${name}.`))
    .toSorted((a, b) => b.name.length - a.name.length);
  const [fit] = fits;
  return fit && { key: fit.pair.key, node: fit.pair.value, rest: rest.slice(fit.name.length + 1) };
}

/** The pairs of a map, and after them those that `<<` merges into it. */
function pairsOf(document: Document, node: unknown): readonly Pair[] {
  if (!isMap(node)) return [];
  const merged = node.items.filter((pair) => keyText(pair) === '<<').map(({ value }) => target(document, value));
  const sources = merged.flatMap((each) => (isSeq(each) ? each.items.map((item) => target(document, item)) : [each]));
  return [...node.items, ...sources.flatMap((source) => (source === node ? [] : pairsOf(document, source)))];
}

const target = (document: Document, node: unknown): Node | undefined => {
  if (isAlias(node)) return node.resolve(document);
  return isNode(node) ? node : undefined;
};

/** The first and last line of a section, counted from 1; undefined if the document has none at this path. */
export function linesOf(document: Document, text: string, path: string): readonly [number, number] | undefined {
  const above = path.slice(0, path.lastIndexOf('.'));
  const start = offsetOf(document, path, 'key');
  const value: unknown = document.getIn(path.split('.'), true);
  const end = isNode(value) ? value.range?.[1] : undefined;
  if (end === undefined || start === offsetOf(document, above, 'key')) return undefined;
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length;
  return [lineAt(start), lineAt(Math.max(start, text.slice(0, end).trimEnd().length - 1))];
}
