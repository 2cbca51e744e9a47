/** Keeps the store from growing for ever. Every step is short: no other write can run meanwhile. */

import { sql } from 'kysely';
import {
  pruneTask,
  runTasks,
  STORE_TASKS,
  type StoreTaskDeps,
  seedTasks,
  type Tasks,
} from '../runtime/housekeeping/periodic-tasks.ts';
import {
  type AgingTable,
  inSteps,
  nextRows,
  pruneBy,
  pruneOlder,
  untilDone,
  type Walked,
} from '../runtime/housekeeping/prune.ts';
import { cutoffOf, RETENTION } from '../runtime/housekeeping/retention.ts';
import type { Claim } from '../runtime/lanes/lanes.ts';
import { checkPendingWrites } from '../runtime/lanes/pending-writes.ts';
import { deleteRuns } from '../runtime/runs/runs.ts';
import { readValue, writeValue } from '../store/kv.ts';
import type { Tx } from '../store/store.ts';
import { countDecisions, countRecordStates } from './activity.ts';
import { pruneFacts } from './facts/prune-facts.ts';
import { continueMarking } from './links/mark-all.ts';
import { pruneRecords } from './links/prune-records.ts';
import { markAllUnconfirmed } from './monitoring/monitoring.ts';
import { deleteNotes } from './notes/due.ts';
import { deleteEnded } from './overrides/override.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const RECEIPTS: AgingTable = { table: 'receipt', key: 'seq', at: 'received_at', only: sql`applied_at is not null` };

const TASKS: Tasks<StoreTaskDeps> = {
  ...STORE_TASKS,
  receipts: {
    everyMs: HOUR_MS,
    async run({ store, now, retention = RETENTION }, signal) {
      await pruneOlder(RECEIPTS)(store, signal, cutoffOf(now(), retention.receipts));
      const before = cutoffOf(now(), retention.bodies);
      await inSteps(store, signal, 0, (tx, after) => dropBodies(tx, after, before, now()));
    },
  },
  // Links without a call to the service, or made while no upstream was configured.
  monitoring: {
    everyMs: HOUR_MS,
    run: ({ store, now }, signal) => markAllUnconfirmed(store, now, signal),
  },
  // Markings that have begun: after changed rules, or parents that did not exist before.
  marking: {
    everyMs: HOUR_MS,
    run: ({ store, now }, signal) => continueMarking(store, now, signal),
  },
  'pending-writes': {
    everyMs: 30_000,
    run: ({ store, now }, signal) => untilDone(store, signal, (tx) => checkPendingWrites(tx, now())),
  },
  overrides: {
    everyMs: HOUR_MS,
    async run({ store, now }) {
      await store.write((tx) => deleteEnded(tx, now()));
    },
  },
  activity: { everyMs: MINUTE_MS, run: countDecisions },
  'record-states': { everyMs: 10 * MINUTE_MS, run: countRecordStates },
  history: pruneTask('decisions', pruneOlder({ table: 'history', key: 'id', at: 'at' })),
  facts: {
    everyMs: DAY_MS,
    async run({ store, now, retention = RETENTION }, signal) {
      const at = now();
      const before = cutoffOf(at, retention.decisions);
      await inSteps(store, signal, '', (tx, after) => pruneFacts(tx, { after, before, now: at }));
    },
  },
  records: pruneTask('decisions', pruneBy(pruneRecords), DAY_MS),
  runs: pruneTask('runs', pruneBy(deleteRuns)),
  // A repeated event is recognised by its receipt, so its note may go when history does.
  notes: pruneTask('decisions', pruneBy(deleteNotes)),
};

export async function seedHousekeeping(tx: Tx, now: number): Promise<void> {
  await seedTasks(tx, 'housekeeping', TASKS, now);
}

/** A task of another version of cvrsync ends. */
export const runHousekeeping = (deps: StoreTaskDeps, claims: readonly Claim[], signal: AbortSignal): Promise<void> =>
  runTasks(deps, TASKS, claims, signal);

const BODIES_DONE = 'housekeeping:bodies';

/**
 * Drops the bodies of applied receipts older than `before`; one step. Remembers its place over all runs, so that it
 * does not read months of receipts every hour: a receipt applied later, or dated ahead, keeps its body until it is
 * deleted.
 */
async function dropBodies(tx: Tx, after: number, before: number, now: number): Promise<Walked | undefined> {
  const from = Math.max(after, Number((await readValue(tx, BODIES_DONE)) ?? 0));
  const page = await nextRows(tx, RECEIPTS, from, before);
  if (page?.old === undefined) return page;
  await tx
    .updateTable('receipt')
    .set({ body: null })
    .where(page.old.are)
    .where('applied_at', 'is not', null)
    .where('quarantined', 'is', null)
    .execute();
  await writeValue(tx, BODIES_DONE, String(page.old.last), now);
  return page;
}
