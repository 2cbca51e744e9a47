/** Deletes old rows of the service's tables. Every step is short, because it blocks other writes. */

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
import { countService } from './activity.ts';
import { dropExpired } from './delivery/own-jobs.ts';
import { trimDeliveries } from './delivery/trim.ts';

export const HOUSEKEEPING_QUEUE = 'service-housekeeping';

const HOUR_MS = 3_600_000;

/** Keeps changes that a delivery or mail still needs. News of deleted changes stay. */
const CHANGES: AgingTable = {
  table: 'change',
  key: 'seq',
  at: 'created_at',
  only: sql`not exists (select 1 from delivery where delivery.change = change.seq and state in ('due', 'held'))
    and not exists (select 1 from mail where mail.change = change.seq and sent_at is null and failed_at is null)`,
  // A change may have ten thousand deliveries to check.
  limit: 50,
};
const MAILS: AgingTable = {
  table: 'mail',
  key: 'seq',
  at: 'created_at',
  only: sql`(sent_at is not null or failed_at is not null)`,
};
const NEWS: AgingTable = { table: 'news', key: 'seq', at: 'time', parts: { table: 'news_entity', column: 'news' } };

const TASKS: Tasks<StoreTaskDeps> = {
  ...STORE_TASKS,
  deliveries: {
    everyMs: HOUR_MS,
    async run({ store, now, retention = RETENTION }, signal) {
      await dropExpired(store, now(), signal);
      await trimDeliveries(store, now(), signal, { days: retention.deliveries });
    },
  },
  activity: { everyMs: 60_000, run: countService },
  windows: { everyMs: HOUR_MS, run: ({ store, now }) => store.write((tx) => trimWindows(tx, now())) },
  changes: pruneTask('changes', pruneOlder(CHANGES)),
  mails: pruneTask('mails', pruneOlder(MAILS)),
  news: pruneTask('news', pruneOlder(NEWS)),
};

/** Makes the lanes of all tasks due; those of the store only if no connector of this daemon does them. */
export async function seedServiceHousekeeping(
  tx: Tx,
  now: number,
  { besideConnector = false }: { readonly besideConnector?: boolean } = {},
): Promise<void> {
  const seeded = Object.entries(TASKS).filter(([name]) => !besideConnector || !Object.hasOwn(STORE_TASKS, name));
  await seedTasks(tx, HOUSEKEEPING_QUEUE, Object.fromEntries(seeded), now);
}

/** Runs the tasks of the claims. Each is due again after its interval; a task name of another version ends. */
export const runServiceHousekeeping = (
  deps: StoreTaskDeps,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> => runTasks(deps, TASKS, claims, signal);
