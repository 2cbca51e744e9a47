/** Keeps the service's tables from growing for ever. Every step is short: nothing else can be written while one runs. */

import { sql } from 'kysely';
import { trimWindows } from '../http/server/shared-call-limit.ts';
import {
  pruneTask,
  runTasks,
  STORE_TASKS,
  type StoreTaskDeps,
  seedTasks,
  type Tasks,
} from '../runtime/housekeeping/periodic-tasks.ts';
import { type AgingTable, pruneOlder } from '../runtime/housekeeping/prune.ts';
import { RETENTION } from '../runtime/housekeeping/retention.ts';
import type { Claim } from '../runtime/lanes/lanes.ts';
import type { Tx } from '../store/store.ts';
import { dropExpired } from './delivery/own-jobs.ts';
import { trimDeliveries } from './delivery/trim.ts';

export const HOUSEKEEPING_QUEUE = 'service-housekeeping';

const HOUR_MS = 3_600_000;

/** No delivery waits to tell of those that go, and no mail. The news made of them, and the record of who was told, stay. */
const CHANGES: AgingTable = {
  table: 'change',
  key: 'seq',
  at: 'created_at',
  only: sql`not exists (select 1 from delivery where delivery.change = change.seq and state in ('due', 'held'))
    and not exists (select 1 from mail where mail.change = change.seq and sent_at is null and failed_at is null)`,
  // A change may have ten thousand deliveries to be asked for.
  limit: 50,
};
const MAILS: AgingTable = {
  table: 'mail',
  key: 'seq',
  at: 'created_at',
  only: sql`(sent_at is not null or failed_at is not null)`,
};
const NEWS: AgingTable = { table: 'news', key: 'seq', at: 'time', parts: { table: 'news_entity', column: 'news' } };

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
  changes: pruneTask('changes', pruneOlder(CHANGES)),
  mails: pruneTask('mails', pruneOlder(MAILS)),
  news: pruneTask('news', pruneOlder(NEWS)),
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
