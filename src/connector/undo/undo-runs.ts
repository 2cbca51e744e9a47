/** Undoes that the daemon runs for a person: what they are to take back, and what became of each property. */
import { type AuditActor, recordAudit } from '../../runtime/operators/audit.ts';
import {
  cancelRun,
  countItems,
  deleteItems,
  type RunRef,
  type RunTask,
  readItems,
  requestRun,
  type StoredRun,
  storeItems,
  storeProgress,
} from '../../runtime/runs/runs.ts';
import type { Db, Tx } from '../../store/store.ts';
import type { Undone } from './outcome.ts';
import type { UndoProgress } from './undo-run.ts';
import type { Selection } from './writes.ts';

export const UNDO: RunTask<Selection> = { queue: 'undo', readInput: (text) => JSON.parse(text) };

/** An undo as it stands; counted in records. */
export type StoredUndo = StoredRun<Selection>;

/** Asks for the undo that was previewed. False if it is not at that point: it was begun, or cancelled, already. */
export async function requestUndo(tx: Tx, ref: RunRef, now: number): Promise<boolean> {
  const undo = await requestRun(tx, UNDO, ref, now);
  if (undo === undefined) return false;
  await deleteItems(tx, undo.id);
  await auditUndo(tx, undo, 'begun', now);
  return true;
}

/** Stops an undo before its next records. False if it had ended already. What it has restored stays restored. */
export async function cancelUndo(tx: Tx, { id, actor }: RunRef, now: number): Promise<boolean> {
  const undo = await cancelRun(tx, UNDO, id, now);
  if (undo?.stage === 'run') await auditUndo(tx, { ...undo, actor }, `cancelled after ${undo.done} records`, now);
  return undo !== undefined;
}

/**
 * Stores what became of some properties. What an earlier try of this undo restored stays so, whatever the next one finds.
 * False if the undo was cancelled.
 */
export async function storeResults(
  tx: Tx,
  id: number,
  results: readonly Undone[],
  { records, of }: UndoProgress,
): Promise<boolean> {
  if (!(await storeProgress(tx, id, { done: records, total: of }))) return false;
  const items = results.map(({ kind, ...undone }) => {
    const { provider, record, property } = undone;
    return { key: JSON.stringify([provider, record, property]), kind, detail: JSON.stringify(undone) };
  });
  await storeItems(tx, id, items, 'restored');
  return true;
}

/** Tells the audit what came of an undo. */
export const auditUndo = (
  tx: Tx,
  { id, input, actor }: { readonly id: number; readonly input: Selection; readonly actor: AuditActor },
  result: string,
  now: number,
): Promise<void> =>
  recordAudit(tx, { actor, via: 'page', action: 'undo.run', subject: String(id), detail: { ...input }, result }, now);

/** How many properties came to what, the most first. */
export const countResults = async (db: Db, id: number): Promise<ReadonlyMap<Undone['kind'], number>> =>
  // We wrote the kinds.
  new Map([...(await countItems(db, id))].map(([kind, count]) => [kind as Undone['kind'], count]));

/** What became of properties: those that a person should look at first. */
export const readResults = async (db: Db, id: number, limit: number): Promise<readonly Undone[]> =>
  (await readItems(db, id, limit, ['restored', 'nothing', 'undone'])).map(({ kind, detail }) => ({
    ...JSON.parse(detail),
    kind,
  }));
