/** The parents above records, as the CRM holds them: a record may not become its own ancestor. */
import type { ParentRead, Parents } from '../../../providers/provider.ts';

/** Record → its parent, null if it has none; a record that is missing was not read. */
export type Lineage = Map<string, string | null>;

/** How many generations are read. */
const HEIGHT = 20;

/** Reads the parents of these records, of their parents, and so on up; one call a generation and batch. */
export async function readLineage(
  parents: Parents,
  ids: readonly string[],
  batch: number,
  signal: AbortSignal,
): Promise<Lineage> {
  const lineage: Lineage = new Map();
  let next = [...new Set(ids)];
  for (let height = 0; height < HEIGHT && next.length > 0; height += 1) {
    for (let start = 0; start < next.length; start += batch) {
      const part = next.slice(start, start + batch);
      const reads = await parents.read(part, signal);
      for (const [index, id] of part.entries()) {
        const above = aboveOf(reads[index]);
        if (above !== undefined) lineage.set(id, above);
      }
    }
    next = [...new Set(next.flatMap((id) => lineage.get(id) ?? []))].filter((id) => !lineage.has(id));
  }
  return lineage;
}

/** The record above one that was read, null if there is none; undefined if the CRM gave no answer. */
function aboveOf(read: ParentRead | undefined): string | null | undefined {
  switch (read?.kind) {
    case 'found':
      return read.parent;
    case 'moved':
      return read.to;
    case 'gone':
      return null;
    default:
      return undefined;
  }
}

/** Whether a record may get a parent: the record is not among the parent's ancestors, and those are all known. */
export function mayBeUnder(lineage: Lineage, id: string, parent: string): boolean {
  let at: string | null | undefined = parent;
  for (let height = 0; height <= HEIGHT; height += 1) {
    if (at === id || at === undefined) return false;
    if (at === null) return true;
    at = lineage.get(at);
  }
  return false;
}
