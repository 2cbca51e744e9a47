/** Carries out the runs of a backfill, and shows their progress. */
import { backfillWork } from '../../connector/backfill/backfill-worker.ts';
import { startConfirming, waitingCalls } from '../../connector/backfill/confirm-monitoring.ts';
import { BACKFILL } from '../../connector/backfill/plan/backfill-task.ts';
import type { BackfillStep } from '../../connector/backfill/rows/backfill-context.ts';
import { readRun } from '../../connector/backfill/rows/progress.ts';
import { releaseLane } from '../../runtime/lanes/release.ts';
import type { StoredRun } from '../../runtime/runs/runs.ts';
import type { CommandContext } from '../cli/context.ts';
import { type CarryOut, runCarrier, syncs, troubleOf, withRunWorker } from '../progress/carry-out-run.ts';
import type { BackfillContext } from './with-backfill.ts';

/** How often to count the remaining calls, and to look for the reason of a wait. */
const COUNT_MS = 1_000;
/** How long a stopped worker may take to end its calls to the monitoring service. */
const GRACE_MS = 15_000;

/** A daemon that has the connection carries backfills out, or else this process. */
export function backfiller(
  context: CommandContext,
  opened: BackfillContext,
  report: (step: BackfillStep) => void,
): CarryOut {
  const { store, crm, now } = opened;
  const show = openDaemonProgress(opened, report);
  return runCarrier(context, store, {
    works: (daemon) => syncs(daemon) && daemon.digests['connector']?.[`providers.${crm.name}`] !== undefined,
    about: 'backfilling',
    show: async (run, by) => (by === 'daemon' ? show(run) : undefined),
    keepsPreviews: true,
    async withWorkers(id, work) {
      // A killed command cannot release its lane. A living one notices that the plan has another owner.
      await releaseLane(store, BACKFILL.queue, String(id), now());
      const calls = startConfirming(opened);
      try {
        const task = backfillWork({ ...opened, watch: report }, [crm]);
        return await withRunWorker(context, store, { id, work: task }, work);
      } finally {
        await calls.stop(GRACE_MS);
      }
    },
  });
}

/** The steps of a run that a daemon carries out, as far as the store has them. */
function openDaemonProgress(
  { store, crm, now }: BackfillContext,
  report: (step: BackfillStep) => void,
): (run: StoredRun<unknown>) => Promise<void> {
  let [linked, countedAt] = [0, 0];
  return async ({ stage, done, total }) => {
    const plan = await readRun(store.db, crm.name);
    if (plan === undefined) return;
    const { phase } = plan;
    if (phase !== 'apply' && phase !== 'confirm' && stage === 'preview') report({ phase, scanned: done });
    if (phase === 'apply') {
      report({ phase, toLink: total ?? 0, linked: done - linked });
      linked = done;
    }
    if (now() - countedAt < COUNT_MS) return;
    countedAt = now();
    const [waits] = await troubleOf(store, [crm.name]);
    if (phase !== 'confirm') return report({ trouble: waits });
    const { left, trouble = waits } = await waitingCalls(store.db, crm.name, countedAt);
    report({ phase, toConfirm: left, trouble });
  };
}
