/** Keeps the store from growing for ever. Every step is short: nothing else can be written while one runs. */
import { inSteps, runTasks, STORE_TASKS, type StoreTaskDeps, seedTasks, type Tasks } from '../runtime/housekeeping.ts';
import type { Claim } from '../runtime/lanes.ts';
import { readKept, writeKept } from '../store/keep.ts';
import type { Tx } from '../store/store.ts';
import { remarkMonitoring } from './monitoring.ts';
import { deleteNotes } from './notes/due.ts';
import { deleteEnded } from './ruling.ts';

export interface HousekeepingDeps extends StoreTaskDeps {
  /** Days decisions are kept, 400 where absent. */
  readonly historyDays?: number;
}

const DAY_MS = 86_400_000;
const BODY_DAYS = 30;
/** Longer than any sender repeats a webhook: until then a repeated one is recognised. */
const RECEIPT_DAYS = 90;
const HISTORY_DAYS = 400;
const STEP = 500;

const TASKS: Tasks<HousekeepingDeps> = {
  ...STORE_TASKS,
  receipts: {
    everyMs: 3_600_000,
    async run({ store, now }, signal) {
      await inSteps(store, signal, (tx, after) => deleteReceipts(tx, after, now() - RECEIPT_DAYS * DAY_MS));
      await inSteps(store, signal, (tx, after) => dropBodies(tx, after, now() - BODY_DAYS * DAY_MS));
    },
  },
  // A wish whose call was never made, or was made while no upstream was configured.
  monitoring: {
    everyMs: 3_600_000,
    async run({ store, now }) {
      await store.write((tx) => remarkMonitoring(tx, now()));
    },
  },
  rulings: {
    everyMs: 3_600_000,
    async run({ store, now }) {
      await store.write((tx) => deleteEnded(tx, now()));
    },
  },
  history: {
    everyMs: 3_600_000,
    async run({ store, now, historyDays = HISTORY_DAYS }, signal) {
      await inSteps(store, signal, (tx) => deleteHistory(tx, now() - historyDays * DAY_MS));
    },
  },
  // A repeated event is recognised by its receipt first: its note may go when history does.
  notes: {
    everyMs: 3_600_000,
    async run({ store, now, historyDays = HISTORY_DAYS }, signal) {
      const before = now() - historyDays * DAY_MS;
      await inSteps(store, signal, async (tx) => ((await deleteNotes(tx, before, STEP)) ? 1 : undefined));
    },
  },
};

/** Makes every task's lane due. */
export async function seedHousekeeping(tx: Tx, now: number): Promise<void> {
  await seedTasks(tx, 'housekeeping', TASKS, now);
}

/** Runs the tasks the claims name; each is due again after its time. A name from another version ends. */
export const runHousekeeping = (deps: HousekeepingDeps, claims: readonly Claim[], signal: AbortSignal): Promise<void> =>
  runTasks(deps, TASKS, claims, signal);

/** Deletes applied receipts that came before `before`; one step. */
export async function deleteReceipts(tx: Tx, after: number, before: number): Promise<number | undefined> {
  const { last, full } = await oldReceipts(tx, after, before);
  if (last === undefined) return undefined;
  await tx
    .deleteFrom('receipt')
    .where('seq', '>', after)
    .where('seq', '<=', last)
    .where('applied_at', 'is not', null)
    .execute();
  return full ? last : undefined;
}

const BODIES_DONE = 'housekeeping:bodies';

/**
 * Drops the bodies of applied receipts that came before `before`; one step. Remembers how far it has come over all runs,
 * so that months of receipts are not read again every hour: one that is applied later keeps its body until it is deleted.
 */
export async function dropBodies(tx: Tx, after: number, before: number): Promise<number | undefined> {
  const from = Math.max(after, Number((await readKept(tx, BODIES_DONE)) ?? 0));
  const { last, full } = await oldReceipts(tx, from, before);
  if (last === undefined) return undefined;
  await tx
    .updateTable('receipt')
    .set({ body: null })
    .where('seq', '>', from)
    .where('seq', '<=', last)
    .where('applied_at', 'is not', null)
    .execute();
  await writeKept(tx, BODIES_DONE, String(last), before);
  return full ? last : undefined;
}

/** Deletes decisions made before `before`; one step. */
export async function deleteHistory(tx: Tx, before: number): Promise<number | undefined> {
  const rows = await tx.selectFrom('history').select(['id', 'at']).orderBy('id').limit(STEP).execute();
  const old = takeWhile(rows, ({ at }) => at < before);
  const last = old.at(-1)?.id;
  if (last === undefined) return undefined;
  await tx.deleteFrom('history').where('id', '<=', last).execute();
  return old.length === STEP ? last : undefined;
}

/** Of the next receipts in the order they came, the last before the first that is too young; `full` where more may follow. */
async function oldReceipts(
  tx: Tx,
  after: number,
  before: number,
): Promise<{ last: number | undefined; full: boolean }> {
  const rows = await tx
    .selectFrom('receipt')
    .select(['seq', 'received_at'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(STEP)
    .execute();
  const old = takeWhile(rows, ({ received_at }) => received_at < before);
  return { last: old.at(-1)?.seq, full: old.length === STEP };
}

function takeWhile<T>(rows: readonly T[], holds: (row: T) => boolean): readonly T[] {
  const end = rows.findIndex((row) => !holds(row));
  return end === -1 ? rows : rows.slice(0, end);
}
