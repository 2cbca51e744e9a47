import { sql } from 'kysely';
import { untilDone } from '../../runtime/housekeeping/prune.ts';
import { cutoffOf, RETENTION } from '../../runtime/housekeeping/retention.ts';
import type { DeliveryTable } from '../../store/service-schema.ts';
import type { Store, Tx } from '../../store/store.ts';

const DAY_MS = 86_400_000;
const HELD_DAYS = 14;
const STEP = 500;
const DONE_MS = 7 * DAY_MS;
const MOST_DONE = 500_000;

/**
 * Drops deliveries held for 14 days; deletes ended deliveries and attempts after `days`, and successful attempts
 * after a week or beyond the newest `mostDone` (500,000: some 60 MB). Uses short transactions, because they block
 * other writers.
 */
export async function trimDeliveries(
  store: Store,
  now: number,
  signal: AbortSignal,
  { days = RETENTION.deliveries, mostDone = MOST_DONE }: { readonly days?: number; readonly mostDone?: number } = {},
): Promise<void> {
  const before = cutoffOf(now, days);
  const steps = [
    (tx: Tx) => dropHeld(tx, now),
    (tx: Tx) => deleteEnded(tx, before),
    (tx: Tx) => deleteAttempts(tx, before),
    (tx: Tx) => deleteDone(tx, now - DONE_MS, mostDone),
  ];
  for (const step of steps) await untilDone(store, signal, async (tx) => (await step(tx)) === STEP);
}

async function dropHeld(tx: Tx, now: number): Promise<number> {
  const before = now - HELD_DAYS * DAY_MS;
  const { numUpdatedRows } = await tx
    .updateTable('delivery')
    .set({ state: 'dropped', ended_at: now, error: `it was held for ${HELD_DAYS} days` })
    // Repeated: PostgreSQL does not recheck the list for a row that it waited for and that was replayed meanwhile.
    .where('state', '=', 'held')
    .where('next_at', '<', before)
    .where('seq', 'in', (query) =>
      query
        .selectFrom('delivery')
        .select('seq')
        // A literal, so that SQLite can use the index of held deliveries.
        .where('state', '=', sql.lit<DeliveryTable['state']>('held'))
        .where('created_at', '<', before)
        // A delivery may have been due for days before it was held.
        .where('next_at', '<', before)
        .limit(STEP),
    )
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

async function deleteEnded(tx: Tx, before: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('delivery')
    .where('state', 'not in', ['due', 'held'])
    .where('seq', 'in', (query) =>
      query
        .selectFrom('delivery')
        .select('seq')
        .where('created_at', '<', before)
        .where('state', 'not in', ['due', 'held'])
        .orderBy('created_at')
        .limit(STEP),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

async function deleteAttempts(tx: Tx, before: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('attempt')
    .where('id', 'in', (query) => query.selectFrom('attempt').select('id').where('at', '<', before).limit(STEP))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

async function deleteDone(tx: Tx, before: number, most: number): Promise<number> {
  const done = tx.selectFrom('attempt').where('done', '=', sql.lit(1));
  const surplus = await done.select('id').orderBy('id', 'desc').limit(1).offset(most).executeTakeFirst();
  // Ids rise with time. A search by time would read the whole table.
  const oldest = await done.select(['id', 'at']).orderBy('id').limit(STEP).execute();
  const ids = oldest.filter(({ id, at }) => at < before || id <= (surplus?.id ?? 0)).map(({ id }) => id);
  if (ids.length > 0) await tx.deleteFrom('attempt').where('id', 'in', ids).execute();
  return ids.length;
}
