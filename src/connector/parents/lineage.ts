/** The ancestors of records in the CRM: a record may not become its own ancestor. */
import type { ParentRead, Parents } from '../../../providers/provider.ts';

/** Record → parent, null for none; missing records were not read. */
export type Lineage = Map<string, string | null>;

const HEIGHT = 20;

/** Reads parents, their parents, and so on; one call a generation and batch. */
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

/** Null: no parent; undefined: no answer. */
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

/** Whether the record is not among the parent's ancestors, which must all be known. */
export function mayBeUnder(lineage: Lineage, id: string, parent: string): boolean {
  let at: string | null | undefined = parent;
  for (let height = 0; height <= HEIGHT; height += 1) {
    if (at === id || at === undefined) return false;
    if (at === null) return true;
    at = lineage.get(at);
  }
  return false;
}
