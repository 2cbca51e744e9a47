/** Runs undoes that a person asked for on a page, paced like all else. */
import { countItems } from '../../runtime/runs/runs.ts';
import type { TaskWork } from '../../runtime/runs/work.ts';
import type { Crm } from '../crm/crm.ts';
import type { UndoDeps } from './undo.ts';
import { undo } from './undo-run.ts';
import { auditUndo, type StoredUndo, storeResults, UNDO } from './undo-runs.ts';
import type { Selection } from './writes.ts';

/** How an undo is run. */
export const undoWork = (deps: UndoDeps, crms: readonly Crm[]): TaskWork<Selection> => ({
  task: UNDO,
  work: (stored, signal) => runOne(deps, crms, stored, signal),
  async audit(tx, stored, error) {
    const counts = [...(await countItems(tx, stored.id))].map(([kind, count]) => `${count} ${kind}`).join(', ');
    const result = [error === null ? 'done' : `failed: ${error}`, counts].filter((part) => part !== '').join('; ');
    await auditUndo(tx, stored, result, deps.now());
  },
});

async function runOne(
  deps: UndoDeps,
  crms: readonly Crm[],
  { id, input, stage }: StoredUndo,
  signal: AbortSignal,
): Promise<void> {
  const cancelled = new AbortController();
  try {
    await undo(
      {
        ...deps,
        crm: async (name) => crms.find((crm) => crm.name === name),
        dryRun: stage === 'preview',
        async report(done, progress) {
          if (!(await deps.store.write((tx) => storeResults(tx, id, done, progress)))) cancelled.abort();
        },
      },
      input,
      AbortSignal.any([signal, cancelled.signal]),
    );
  } catch (error) {
    if (!cancelled.signal.aborted) throw error;
  }
}
