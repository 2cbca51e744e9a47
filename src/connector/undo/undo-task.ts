/** Undoes as runs: which writes they take back, and the result for each property. */
import { FOREVER, readLength } from '../../protocol/text/length.ts';
import { countItems, deleteItems, readItems, readItemsOf, storeItems } from '../../runtime/runs/run-items.ts';
import type { RunTask, StoredRun } from '../../runtime/runs/runs.ts';
import type { RunFollower, TaskWork } from '../../runtime/runs/work.ts';
import type { Db, Tx } from '../../store/store.ts';
import type { Undone } from './outcome.ts';
import type { UndoDeps } from './undo.ts';
import { recordKey, type UndoRun, undo } from './undo-run.ts';
import type { Selection } from './writes.ts';

/** Which writes an undo takes back, and how. */
export interface UndoRequest extends Selection {
  /** How many records it restores at most. */
  readonly limit?: number | undefined;
  /** How long what it restores is held, as `90d` or `forever`; 30 days if absent. */
  readonly hold?: string | undefined;
}

export const UNDO: RunTask<UndoRequest> = {
  queue: 'undo',
  counts: 'records',
  fine: ['restored', 'nothing', 'undone'],
  audit: ({ id, input }) => ({ action: 'undo.run', subject: String(id), detail: { ...input } }),
  confirm: (tx, { id }) => deleteItems(tx, id),
};

export type StoredUndo = StoredRun<UndoRequest>;

type UndoWorkDeps = UndoDeps & Pick<UndoRun, 'crm' | 'waiting'>;

/** How the daemon undoes. */
export const undoWork = (deps: UndoWorkDeps): TaskWork<UndoRequest> => ({
  task: UNDO,
  work: (run, follower) => undoInRun(deps, run, previewedOf(run), follower),
});

/** What was written after the preview stays: nobody has seen that it would be taken back. */
function previewedOf({ stage, input, previewedAt }: StoredUndo): UndoRequest {
  return stage === 'preview' || previewedAt === null
    ? input
    : { ...input, until: Math.min(input.until ?? Number.POSITIVE_INFINITY, previewedAt + 1) };
}

/** Undoes in a run, or previews that, with the results as items of the run. */
export async function undoInRun(
  deps: UndoWorkDeps,
  { id, stage, done: begun, total, actor, via }: Omit<StoredRun<unknown>, 'input'>,
  { limit, hold, ...selection }: UndoRequest,
  { signal, step }: RunFollower,
): Promise<void> {
  let progress = { done: begun, total };
  const run = {
    ...deps,
    limit,
    restored: limit === undefined ? [] : await readRestored(deps.store.db, id),
    holdMs: hold === FOREVER ? Number.POSITIVE_INFINITY : readLength(hold ?? ''),
    by: { actor, via },
    dryRun: stage === 'preview',
    look: () => step(progress),
    async report(done: readonly Undone[], { records, of }: { readonly records: number; readonly of: number }) {
      progress = { done: records, total: of };
      // What an earlier try of this undo restored stays so, whatever the next one finds.
      const keep = (tx: Tx) => storeItems(tx, id, done.map(itemOf), 'restored');
      // What was written before the cancel is shown.
      if (!(await step(progress, keep)) && stage === 'run') await deps.store.write(keep);
    },
  };
  await undo(run, selection, signal);
}

/** The records of which an earlier try restored something. */
async function readRestored(db: Db, id: number): Promise<readonly string[]> {
  const items = await readItemsOf(db, id, 'restored', Number.MAX_SAFE_INTEGER);
  return items.map(({ detail }) => {
    // {@link itemOf} wrote it.
    const { provider, record }: Undone = JSON.parse(detail);
    return recordKey(provider, record);
  });
}

const itemOf = ({ kind, ...undone }: Undone) => {
  const { provider, record, property } = undone;
  return { key: JSON.stringify([provider, record, property]), kind, detail: JSON.stringify(undone) };
};

/** Number of properties by result, the most frequent first. */
export const countResults = async (db: Db, id: number): Promise<ReadonlyMap<Undone['kind'], number>> =>
  // We wrote the kinds.
  new Map([...(await countItems(db, id))].map(([kind, count]) => [kind as Undone['kind'], count]));

/** Results of properties: those that a person should look at first. */
export const readResults = async (db: Db, id: number, limit: number): Promise<readonly Undone[]> =>
  (await readItems(db, id, limit, UNDO.fine)).map(({ kind, detail }) => ({
    ...JSON.parse(detail),
    kind,
  }));
