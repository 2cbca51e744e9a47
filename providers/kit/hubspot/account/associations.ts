/** The labelled links between the companies of an emulated account, visible from both ends. */

/**
 * A label's number, and the number at the other end.
 * https://developers.hubspot.com/docs/api-reference/crm-associations-v4/guide
 */
const MIRRORED: ReadonlyMap<number, number> = new Map([
  [13, 14],
  [14, 13],
  [450, 450],
]);

const PARENT_TO_CHILD = 13;
export const CHILD_TO_PARENT = 14;
export const UNLABELLED = 450;

export const LABEL_NAMES: Readonly<Record<number, string>> = {
  [PARENT_TO_CHILD]: 'Child Company',
  [CHILD_TO_PARENT]: 'Parent Company',
};

export interface Associations {
  /** The label numbers from one company to each other one, in the order of creation. */
  of(id: string): ReadonlyMap<string, ReadonlySet<number>>;
  /** Gives the pair exactly these labels, and the unlabelled one. A company has one parent: it replaces another. */
  put(from: string, to: string, labels: readonly number[]): void;
  /** Removes some labels of a pair; without labels, all of them and the link. */
  remove(from: string, to: string, labels?: readonly number[]): void;
  parent(id: string): string | undefined;
  /** Gives the links of both companies to the survivor, the primary's first. */
  merge(primary: string, other: string, survivor: string): void;
}

/** No links yet; calls `onParent` with a company whose parent changed. */
export function openAssociations(onParent: (child: string, parent: string | undefined) => void): Associations {
  const links = new Map<string, Map<string, Set<number>>>();
  const labelsOf = (from: string, to: string): Set<number> => {
    const ends = links.get(from) ?? new Map<string, Set<number>>();
    links.set(from, ends);
    const labels = ends.get(to) ?? new Set<number>();
    ends.set(to, labels);
    return labels;
  };
  const cut = (from: string, to: string) => {
    links.get(from)?.delete(to);
    if (links.get(from)?.size === 0) links.delete(from);
  };
  const parentOf = (id: string): string | undefined =>
    [...(links.get(id) ?? [])].find(([, labels]) => labels.has(CHILD_TO_PARENT))?.[0];
  const mirrored = (labels: Iterable<number>) => [...labels].map((label) => MIRRORED.get(label) ?? label);

  const tellParents = (from: string, to: string) => {
    onParent(from, parentOf(from));
    onParent(to, parentOf(to));
  };

  const associations: Associations = {
    of: (id) => links.get(id) ?? new Map(),
    parent: parentOf,
    put(from, to, labels) {
      for (const [child, parent] of childrenIn(from, to, labels)) {
        const old = parentOf(child);
        if (old !== undefined && old !== parent) associations.remove(child, old, [CHILD_TO_PARENT]);
      }
      cut(from, to);
      cut(to, from);
      const all = new Set([UNLABELLED, ...labels]);
      for (const label of all) labelsOf(from, to).add(label);
      for (const label of mirrored(all)) labelsOf(to, from).add(label);
      tellParents(from, to);
    },
    remove(from, to, labels) {
      if (links.get(from)?.has(to) !== true) return;
      if (labels === undefined) {
        cut(from, to);
        cut(to, from);
      } else {
        for (const label of labels) labelsOf(from, to).delete(label);
        for (const label of mirrored(labels)) labelsOf(to, from).delete(label);
      }
      tellParents(from, to);
    },
    merge(primary, other, survivor) {
      for (const old of [other, primary]) {
        for (const [to, labels] of [...associations.of(old)]) {
          associations.remove(old, to);
          if (to !== primary && to !== other) associations.put(survivor, to, [...labels]);
        }
      }
    },
  };
  return associations;
}

/** Which company of a pair becomes the child by these labels. */
export const childrenIn = (
  from: string,
  to: string,
  labels: readonly number[],
): readonly (readonly [string, string])[] => [
  ...(labels.includes(CHILD_TO_PARENT) ? [[from, to] as const] : []),
  ...(labels.includes(PARENT_TO_CHILD) ? [[to, from] as const] : []),
];
