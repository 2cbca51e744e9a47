/** Writes patches, and again without the properties a CRM refuses, until every record has its outcome. */
import type { Connection, Outcome, Patch } from '../../../providers/provider.ts';
import { withSendGuard } from '../crm/send-guard.ts';
import type { Freshness } from './freshness.ts';
import { UNMENTIONED } from './settle.ts';

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
  const progress: Progress = { results: new Map(), refused: new Map() };
  let pending: readonly Patch[] = patches.filter(isWorthACall);
  for (let round = 1; pending.length > 0; round += 1) {
    const outcomes = await attempt(connection, pending, signal, fresh);
    const isStale = fresh?.isStale() === true;
    const again = pending.flatMap((patch, index) => {
      const outcome = outcomes[index] ?? { kind: 'retry', id: patch.id, reason: UNMENTIONED };
      if (isStale && (outcome.kind === 'retry' || outcome.kind === 'fault')) return patch;
      return restOf(progress, patch, outcome, { leftBehind, isLast: round >= ROUNDS }) ?? [];
    });
    pending = isStale && fresh !== undefined ? await renewed(progress, fresh, again, signal) : again;
  }
  return progress.results;
}

/** What became of the records so far, by record. */
interface Progress {
  readonly results: Map<string, Written>;
  readonly refused: Map<string, Readonly<Record<string, string>>>;
}

/** What of a patch is to be sent again, without what was refused; undefined where the record is finished. */
function restOf(
  progress: Progress,
  patch: Patch,
  outcome: Written['outcome'],
  { leftBehind, isLast }: { readonly leftBehind: WriteOptions['leftBehind']; readonly isLast: boolean },
): Patch | undefined {
  const bad = badOf(patch, outcome, leftBehind);
  if (Object.keys(bad).length === 0) {
    finish(progress, outcome);
    return undefined;
  }
  progress.refused.set(patch.id, { ...progress.refused.get(patch.id), ...bad });
  const rest = without(patch, bad);
  if (isWorthACall(rest) && !isLast) return rest;
  finish(progress, isWorthACall(rest) ? outcome : { kind: 'written', id: patch.id });
  return undefined;
}

function finish({ results, refused }: Progress, outcome: Written['outcome']): void {
  results.set(outcome.id, { outcome, refused: refused.get(outcome.id) ?? {} });
}

/** Properties that this answer takes out of the patch, with the reason. */
function badOf(
  patch: Patch,
  outcome: Written['outcome'],
  leftBehind: WriteOptions['leftBehind'],
): Readonly<Record<string, string>> {
  if (outcome.kind !== 'rejected') return {};
  const named = ours(patch, outcome.properties);
  return { ...leftBehind?.(patch.id, named), ...named };
}

/** Reads the records again, and returns what their patches are now. */
async function renewed(
  progress: Progress,
  fresh: Freshness,
  old: readonly Patch[],
  signal: AbortSignal,
): Promise<readonly Patch[]> {
  const ids = old.map(({ id }) => id);
  try {
    const patches = (await fresh.renew(ids)).map((patch) => without(patch, progress.refused.get(patch.id) ?? {}));
    for (const { id } of patches.filter((patch) => !isWorthACall(patch))) finish(progress, { kind: 'written', id });
    return patches.filter(isWorthACall);
  } catch (error) {
    signal.throwIfAborted();
    for (const id of ids) finish(progress, { kind: 'fault', id, error, unsent: true });
    return [];
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
