/** Writes patches, and again without the properties a CRM refuses, until every record has its outcome. */
import type { Connection, Outcome, Patch } from '../../providers/provider.ts';

/** What became of one record: the outcome of its last patch, and every property that was refused on the way. */
export interface Written {
  readonly outcome: Outcome | { readonly kind: 'fault'; readonly id: string; readonly error: unknown };
  /** Property → the CRM's reason. */
  readonly refused: Readonly<Record<string, string>>;
}

/** A CRM names one bad property at a time, or all: a record that still fails after so many rounds is refused whole. */
const ROUNDS = 12;

/**
 * Updates the records of one batch. What the CRM had written before a fault is kept: the fault is the outcome of the
 * rest. An empty patch is no call.
 */
export async function writePatches(
  connection: Connection,
  patches: readonly Patch[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Written>> {
  const results = new Map<string, Written>();
  const refused = new Map<string, Record<string, string>>();
  let pending = patches.filter((patch) => Object.keys(patch.properties).length > 0);
  for (let round = 1; pending.length > 0; round += 1) {
    const outcomes = await attempt(connection, pending, signal);
    const again: Patch[] = [];
    for (const [index, patch] of pending.entries()) {
      const outcome = outcomes[index] ?? { kind: 'retry', id: patch.id, reason: 'the CRM said nothing of this record' };
      const bad = outcome.kind === 'rejected' ? ours(patch, outcome.properties) : {};
      const sofar = { ...refused.get(patch.id), ...bad };
      refused.set(patch.id, sofar);
      const rest = Object.entries(patch.properties).filter(([name]) => !Object.hasOwn(bad, name));
      const isBad = Object.keys(bad).length > 0;
      if (isBad && rest.length === 0)
        results.set(patch.id, { outcome: { kind: 'written', id: patch.id }, refused: sofar });
      else if (isBad && round < ROUNDS) again.push({ id: patch.id, properties: Object.fromEntries(rest) });
      else results.set(patch.id, { outcome, refused: sofar });
    }
    pending = again;
  }
  return results;
}

/** Only what we sent can be left out of the next round: another name would loop. */
const ours = (patch: Patch, reasons: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(reasons).filter(([name]) => Object.hasOwn(patch.properties, name)));

async function attempt(
  connection: Connection,
  patches: readonly Patch[],
  signal: AbortSignal,
): Promise<readonly Written['outcome'][]> {
  try {
    return await connection.update(patches, signal);
  } catch (error) {
    signal.throwIfAborted();
    return patches.map(({ id }) => ({ kind: 'fault', id, error }));
  }
}
