/** Work that events cause besides properties, if a connection asks for it: notes on records, and parents. */
import type { Metrics } from '../http/metrics.ts';
import { startWorker, type Worker, type WorkerOptions } from '../runtime/worker.ts';
import type { Tx } from '../store/store.ts';
import { openGate } from './crm/ability.ts';
import type { Crm } from './crm/crm.ts';
import type { LostLeaseDeps } from './crm/lost-lease.ts';
import { unlessLeft } from './links/left.ts';
import { dropUnwantedNotes } from './notes/due.ts';
import { leaveNotes } from './notes/leave.ts';
import { leavesNotes, type NoteRules, noteRules } from './notes/rows.ts';
import { assignParents } from './parents/assign-parent.ts';
import { assignsParents, markReparented, parentConnections } from './parents/mark.ts';

export const derivedRules = (
  crms: readonly Crm[],
): { readonly notes: NoteRules | undefined; readonly parents: ReadonlySet<string> | undefined } => ({
  notes: noteRules(crms),
  parents: parentConnections(crms),
});

export async function prepareDerived(tx: Tx, crms: readonly Crm[], now: number): Promise<void> {
  await dropUnwantedNotes(tx, crms, now);
  await markReparented(tx, crms, now);
}

/** Records in one run of notes: each note is a call, and other work waits for the end of the run. */
const NOTE_BATCH = 20;
const NOTE_RUNS = 4;

type WorkerBasics = Omit<WorkerOptions, 'queue' | 'batch' | 'concurrency' | 'run'>;

export function startDerived(
  common: WorkerBasics,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Required<LostLeaseDeps>['log'] },
  crm: Crm,
): readonly Worker[] {
  const { store, now } = common;
  const { limits } = crm;
  const workers: Worker[] = [];
  if (leavesNotes(crm)) {
    const gate = openGate(store, crm, 'notes', now);
    workers.push(
      startWorker({
        ...common,
        queue: `note:${crm.name}`,
        batch: Math.min(limits.batch.read, NOTE_BATCH),
        concurrency: Math.min(limits.concurrency, NOTE_RUNS),
        blockedUntil: () => gate.blockedUntil(),
        run: unlessLeft(store, crm.name, (claims, signal) =>
          leaveNotes({ store, metrics, log, now, gate }, crm, claims, signal),
        ),
      }),
    );
  }
  if (assignsParents(crm)) {
    const gate = openGate(store, crm, 'parents', now);
    workers.push(
      startWorker({
        ...common,
        queue: `parent:${crm.name}`,
        batch: limits.batch.read,
        // One at a time: two runs could close a circle between them.
        concurrency: 1,
        blockedUntil: () => gate.blockedUntil(),
        run: unlessLeft(store, crm.name, (claims, signal) =>
          assignParents({ store, metrics, log, now, gate }, crm, claims, signal),
        ),
      }),
    );
  }
  return workers;
}
