/** Keeps the service's tables from growing for ever. Every step is short: nothing else can be written while one runs. */

import type { Claim } from '../runtime/lanes/lanes.ts';
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
import type { Tx } from '../store/store.ts';
import { dropExpired } from './delivery/own-jobs.ts';
import { trimDeliveries } from './delivery/trim.ts';
import { trimWindows } from './routes/window.ts';

export const HOUSEKEEPING_QUEUE = 'service-housekeeping';

const HOUR_MS = 3_600_000;
const STEP = 500;
/** A change may have ten thousand deliveries to be asked for. */
const CHANGE_STEP = 50;

// The store's tasks run twice beside a connector; each does no harm.
const TASKS: Tasks<StoreTaskDeps> = {
  ...STORE_TASKS,
  deliveries: {
    everyMs: HOUR_MS,
    async run({ store, now, retention = RETENTION }, signal) {
      await dropExpired(store, now(), signal);
      await trimDeliveries(store, now(), signal, { keptDays: retention.deliveries });
    },
  },
  windows: { everyMs: HOUR_MS, run: ({ store, now }) => store.write((tx) => trimWindows(tx, now())) },
  changes: {
    everyMs: HOUR_MS,
    run({ store, now, retention = RETENTION }, signal) {
      const before = keptFrom(now(), retention.changes);
      return inSteps(store, signal, 0, (tx, after) => deleteChanges(tx, after, before));
    },
  },
  mails: {
    everyMs: HOUR_MS,
    run({ store, now, retention = RETENTION }, signal) {
      const before = keptFrom(now(), retention.mails);
      return inSteps(store, signal, 0, (tx, after) => deleteMails(tx, after, before));
    },
  },
  news: {
    everyMs: HOUR_MS,
    async run({ store, now, retention = RETENTION }, signal) {
      if (retention.news === undefined) return;
      const before = keptFrom(now(), retention.news);
      await inSteps(store, signal, 0, (tx, after) => deleteNews(tx, after, before));
    },
  },
};

/** Makes every task's lane due. */
export async function seedServiceHousekeeping(tx: Tx, now: number): Promise<void> {
  await seedTasks(tx, HOUSEKEEPING_QUEUE, TASKS, now);
}

/** Runs the tasks the claims name; each is due again after its time. A name from another version ends. */
export const runServiceHousekeeping = (
  deps: StoreTaskDeps,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> => runTasks(deps, TASKS, claims, signal);

/**
 * Deletes changes found before `before` that no delivery waits to tell and no mail, one step. The news made of them, and
 * the record of who was told, stay.
 */
async function deleteChanges(tx: Tx, after: number, before: number): Promise<Walked | undefined> {
  const rows = await tx
    .selectFrom('change')
    .select(['seq as key', 'created_at as at'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(CHANGE_STEP)
    .execute();
  const page = walked(rows, before);
  if (!page?.found) return page;
  await tx
    .deleteFrom('change')
    .where('seq', '>', after)
    .where('seq', '<=', page.last)
    .where('created_at', '<', before)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('delivery')
            .select('delivery.seq')
            .whereRef('delivery.change', '=', 'change.seq')
            .where('delivery.state', 'in', ['due', 'held']),
        ),
      ),
    )
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('mail')
            .select('mail.seq')
            .whereRef('mail.change', '=', 'change.seq')
            .where('mail.sent_at', 'is', null)
            .where('mail.failed_at', 'is', null),
        ),
      ),
    )
    .execute();
  return page;
}

/** Deletes news items of before `before`, one step. */
async function deleteNews(tx: Tx, after: number, before: number): Promise<Walked | undefined> {
  const rows = await tx
    .selectFrom('news')
    .select(['seq as key', 'time as at'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(STEP)
    .execute();
  const old = rows.filter(({ at }) => at < before).map(({ key }) => key);
  if (old.length > 0) {
    await tx.deleteFrom('news_entity').where('news', 'in', old).execute();
    await tx.deleteFrom('news').where('seq', 'in', old).execute();
  }
  return walked(rows, before);
}

/** Deletes mails made before `before` that were sent or given up, one step. */
async function deleteMails(tx: Tx, after: number, before: number): Promise<Walked | undefined> {
  const rows = await tx
    .selectFrom('mail')
    .select(['seq as key', 'created_at as at'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(STEP)
    .execute();
  const page = walked(rows, before);
  if (!page?.found) return page;
  await tx
    .deleteFrom('mail')
    .where('seq', '>', after)
    .where('seq', '<=', page.last)
    .where('created_at', '<', before)
    .where(({ eb, or }) => or([eb('sent_at', 'is not', null), eb('failed_at', 'is not', null)]))
    .execute();
  return page;
}
