/** Keeps the store from growing for ever. Every step is short: nothing else can be written while one runs. */

import type { Claim } from '../runtime/lanes/lanes.ts';
import { checkPendingWrites } from '../runtime/lanes/pending-writes.ts';
import {
  inSteps,
  runTasks,
  STORE_TASKS,
  type StoreTaskDeps,
  seedTasks,
  type Tasks,
  type Walked,
  walked,
} from '../runtime/periodic-tasks.ts';
import { keptFrom, RETENTION } from '../runtime/retention.ts';
import { deleteRuns } from '../runtime/runs/runs.ts';
import { readValue, writeValue } from '../store/kv.ts';
import type { Tx } from '../store/store.ts';
import { pruneFacts } from './facts/prune-facts.ts';
import { continueMarking } from './links/mark-all.ts';
import { pruneRecords } from './links/prune-records.ts';
import { markAllUnconfirmed } from './monitoring/monitoring.ts';
import { deleteNotes } from './notes/due.ts';
import { deleteEnded } from './overrides/override.ts';

const DAY_MS = 86_400_000;
const STEP = 500;

const TASKS: Tasks<StoreTaskDeps> = {
  ...STORE_TASKS,
  receipts: {
    everyMs: 3_600_000,
    async run({ store, now, retention = RETENTION }, signal) {
      const before = { rows: keptFrom(now(), retention.receipts), bodies: keptFrom(now(), retention.bodies) };
      await inSteps(store, signal, 0, (tx, after) => deleteReceipts(tx, after, before.rows));
      await inSteps(store, signal, 0, (tx, after) => dropBodies(tx, after, before.bodies, now()));
    },
  },
  // Links whose call was never made, or that were made while no upstream was configured.
  monitoring: {
    everyMs: 3_600_000,
    run: ({ store, now }, signal) => markAllUnconfirmed(store, now, signal),
  },
  // What was begun to be marked: other rules, or parents where none were given before.
  marking: {
    everyMs: 3_600_000,
    run: ({ store, now }, signal) => continueMarking(store, now, signal),
  },
  // What a process left pending that stood still or died.
  'pending-writes': {
    everyMs: 30_000,
    async run({ store, now }, signal) {
      while (!signal.aborted && (await store.write((tx) => checkPendingWrites(tx, now()))));
    },
  },
  overrides: {
    everyMs: 3_600_000,
    async run({ store, now }) {
      await store.write((tx) => deleteEnded(tx, now()));
    },
  },
  history: {
    everyMs: 3_600_000,
    async run({ store, now, retention = RETENTION }, signal) {
      const before = keptFrom(now(), retention.decisions);
      await inSteps(store, signal, 0, (tx, after) => deleteHistory(tx, after, before));
    },
  },
  facts: {
    everyMs: DAY_MS,
    async run({ store, now, retention = RETENTION }, signal) {
      const at = now();
      const before = keptFrom(at, retention.decisions);
      await inSteps(store, signal, '', (tx, after) => pruneFacts(tx, { after, before, now: at }));
    },
  },
  records: {
    everyMs: DAY_MS,
    async run({ store, now, retention = RETENTION }, signal) {
      const before = keptFrom(now(), retention.decisions);
      await inSteps(store, signal, 0, async (tx) =>
        (await pruneRecords(tx, before, STEP)) ? { last: 0, found: true } : undefined,
      );
    },
  },
  runs: {
    everyMs: 3_600_000,
    async run({ store, now, retention = RETENTION }, signal) {
      const before = keptFrom(now(), retention.runs);
      await inSteps(store, signal, 0, async (tx) =>
        (await deleteRuns(tx, before, STEP)) ? { last: 0, found: true } : undefined,
      );
    },
  },
  // A repeated event is recognised by its receipt first: its note may go when history does.
  notes: {
    everyMs: 3_600_000,
    async run({ store, now, retention = RETENTION }, signal) {
      const before = keptFrom(now(), retention.decisions);
      await inSteps(store, signal, 0, async (tx) =>
        (await deleteNotes(tx, before, STEP)) ? { last: 0, found: true } : undefined,
      );
    },
  },
};

/** Makes every task's lane due. */
export async function seedHousekeeping(tx: Tx, now: number): Promise<void> {
  await seedTasks(tx, 'housekeeping', TASKS, now);
}

/** Runs the tasks the claims name; each is due again after its time. A name from another version ends. */
export const runHousekeeping = (deps: StoreTaskDeps, claims: readonly Claim[], signal: AbortSignal): Promise<void> =>
  runTasks(deps, TASKS, claims, signal);

/** Deletes applied receipts that came before `before`; one step. */
async function deleteReceipts(tx: Tx, after: number, before: number): Promise<Walked | undefined> {
  const page = await readReceipts(tx, after, before);
  if (page?.lastOld === undefined) return page;
  await tx
    .deleteFrom('receipt')
    .where('seq', '>', after)
    .where('seq', '<=', page.lastOld)
    .where('received_at', '<', before)
    .where('applied_at', 'is not', null)
    .execute();
  return page;
}

const BODIES_DONE = 'housekeeping:bodies';

/**
 * Drops the bodies of applied receipts that came before `before`; one step. Remembers how far it has come over all runs,
 * so that months of receipts are not read again every hour: one that is applied later, or was dated ahead, keeps its body
 * until it is deleted.
 */
async function dropBodies(tx: Tx, after: number, before: number, now: number): Promise<Walked | undefined> {
  const from = Math.max(after, Number((await readValue(tx, BODIES_DONE)) ?? 0));
  const page = await readReceipts(tx, from, before);
  if (page?.lastOld === undefined) return page;
  await tx
    .updateTable('receipt')
    .set({ body: null })
    .where('seq', '>', from)
    .where('seq', '<=', page.lastOld)
    .where('received_at', '<', before)
    .where('applied_at', 'is not', null)
    .where('aside', 'is', null)
    .execute();
  await writeValue(tx, BODIES_DONE, String(page.lastOld), now);
  return page;
}

/** Deletes decisions made before `before`; one step. */
async function deleteHistory(tx: Tx, after: number, before: number): Promise<Walked | undefined> {
  const rows = await tx
    .selectFrom('history')
    .select(['id as key', 'at'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(STEP)
    .execute();
  const page = walked(rows, before);
  if (!page?.found) return page;
  await tx
    .deleteFrom('history')
    .where('id', '>', after)
    .where('id', '<=', page.last)
    .where('at', '<', before)
    .execute();
  return page;
}

/** The next receipts in the order they came; `lastOld` is the last that came before `before`. */
async function readReceipts(
  tx: Tx,
  after: number,
  before: number,
): Promise<(Walked & { readonly lastOld: number | undefined }) | undefined> {
  const rows = await tx
    .selectFrom('receipt')
    .select(['seq as key', 'received_at as at'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(STEP)
    .execute();
  const page = walked(rows, before);
  return page && { ...page, lastOld: rows.findLast(({ at }) => at < before)?.key };
}
