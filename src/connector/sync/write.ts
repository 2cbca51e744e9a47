/** Writes patches, and again without the properties a CRM refuses, until every record has its outcome. */
import type { Connection, Outcome, Patch } from '../../../providers/provider.ts';
import { withSendGuard } from '../crm/send-guard.ts';
import type { Freshness } from './freshness.ts';

/** What became of one record: the outcome of its last patch, and every property that was refused on the way. */
export interface Written {
  readonly outcome:
    | Outcome
    /** `unsent`: nothing of the patch had left. */
    | { readonly kind: 'fault'; readonly id: string; readonly error: unknown; readonly unsent?: true };
  /** Property → the CRM's reason. */
  readonly refused: Readonly<Record<string, string>>;
}

/** A CRM names one bad property at a time, or all: a record that still fails after so many rounds is refused whole. */
const ROUNDS = 12;

export interface WriteOptions {
  /** Where absent, what was read may be of any age. */
  readonly fresh?: Freshness;
  /** What must not be written to a record without the properties that were refused, with the reason. */
  readonly leftBehind?: (id: string, refused: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
}

/**
 * Updates the records of one batch. What the CRM had written before a fault is kept: the fault is the outcome of the
 * rest. An empty patch is no call. Where a write was stopped because its read had grown old (freshness.ts), the records
 * are read again first, and their patches are what that makes of them.
 */
export async function writePatches(
  connection: Connection,
  patches: readonly Patch[],
  signal: AbortSignal,
  { fresh, leftBehind }: WriteOptions = {},
): Promise<ReadonlyMap<string, Written>> {
  const results = new Map<string, Written>();
  const refused = new Map<string, Record<string, string>>();
  let pending: readonly Patch[] = patches.filter(isWorthACall);
  for (let round = 1; pending.length > 0; round += 1) {
    const outcomes = await attempt(connection, pending, signal, fresh);
    const isStale = fresh?.isStale() === true;
    const again: Patch[] = [];
    for (const [index, patch] of pending.entries()) {
      const outcome = outcomes[index] ?? { kind: 'retry', id: patch.id, reason: 'the CRM said nothing of this record' };
      const named = outcome.kind === 'rejected' ? ours(patch, outcome.properties) : {};
      const bad = { ...leftBehind?.(patch.id, named), ...named };
      const sofar = { ...refused.get(patch.id), ...bad };
      refused.set(patch.id, sofar);
      const rest = without(patch, bad);
      const isBad = Object.keys(bad).length > 0;
      const isStopped = isStale && (outcome.kind === 'retry' || outcome.kind === 'fault');
      if (isStopped) again.push(patch);
      else if (isBad && !isWorthACall(rest))
        results.set(patch.id, { outcome: { kind: 'written', id: patch.id }, refused: sofar });
      else if (isBad && round < ROUNDS) again.push(rest);
      else results.set(patch.id, { outcome, refused: sofar });
    }
    pending = again;
    if (isStale && fresh !== undefined) pending = await renewed(fresh, again);
  }
  return results;

  async function renewed(freshness: Freshness, old: readonly Patch[]): Promise<readonly Patch[]> {
    const ids = old.map(({ id }) => id);
    try {
      const patches = (await freshness.renew(ids)).map((patch) => without(patch, refused.get(patch.id) ?? {}));
      for (const { id } of patches.filter((patch) => !isWorthACall(patch)))
        results.set(id, { outcome: { kind: 'written', id }, refused: refused.get(id) ?? {} });
      return patches.filter(isWorthACall);
    } catch (error) {
      signal.throwIfAborted();
      for (const id of ids)
        results.set(id, { outcome: { kind: 'fault', id, error, unsent: true }, refused: refused.get(id) ?? {} });
      return [];
    }
  }
}

const isWorthACall = ({ properties }: Patch): boolean => Object.keys(properties).length > 0;

const without = ({ id, properties }: Patch, bad: Readonly<Record<string, string>>): Patch => ({
  id,
  properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !Object.hasOwn(bad, name))),
});

/** Only what we sent can be left out of the next round: another name would loop. */
const ours = (patch: Patch, reasons: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(reasons).filter(([name]) => Object.hasOwn(patch.properties, name)));

async function attempt(
  connection: Connection,
  patches: readonly Patch[],
  signal: AbortSignal,
  fresh: Freshness | undefined,
): Promise<readonly Written['outcome'][]> {
  const update = () => connection.update(patches, signal);
  try {
    return await (fresh === undefined ? update() : withSendGuard(fresh.guard, update));
  } catch (error) {
    signal.throwIfAborted();
    return patches.map(({ id }) => ({ kind: 'fault', id, error }));
  }
}
