/** What the service counts for charts: delivery attempts, and how far behind its sources are. */
import { sql } from 'kysely';
import { addActivity } from '../runtime/activity/activity.ts';
import { type CountedTable, countNewRows } from '../runtime/activity/count-activity.ts';
import type { TaskDeps } from '../runtime/housekeeping/periodic-tasks.ts';
import { WATCH_QUEUE } from './register/watch/ingest-page.ts';

const ATTEMPTS: CountedTable = {
  table: 'attempt',
  key: 'id',
  at: 'at',
  kind: sql`case when done = 1 then 'sent' else 'failed' end`,
  subject: sql`''`,
  count: () => sql`1`,
};

/** Counts the new attempts, and records the longest current outage of a source. */
export async function countService({ store, now }: TaskDeps, signal: AbortSignal): Promise<void> {
  await countNewRows(store, ATTEMPTS, now(), signal);
  const { since } = await store.db
    .selectFrom('lane')
    .select(({ fn }) => fn.min('since').as('since'))
    .where('queue', '=', WATCH_QUEUE)
    .where('error', 'is not', null)
    .executeTakeFirstOrThrow();
  const at = now();
  const count = since === null ? 0 : Math.round((at - since) / 1_000);
  await store.write((tx) => addActivity(tx, [{ at, kind: 'behind', subject: '', count }], 'replace'));
}
