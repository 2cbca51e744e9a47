/** Whether work is under way in the store. */
import type { Tx } from '../../src/store/store.ts';

/** What waits longer waits for the end of a hold, or to send a refused value again. */
const SOON_MS = 3 * 3_600_000;

/** Whether lanes of these queues are worked on, or are due soon; of these keys only, if they are given. */
export async function isUnderWay(
  tx: Tx,
  queues: readonly string[],
  now: number,
  keys?: readonly string[],
): Promise<boolean> {
  const lanes = await tx
    .selectFrom('lane')
    .select(['queue', 'key', 'due_at', 'lease_until', 'error'])
    .where('queue', 'in', queues)
    .$if(keys !== undefined, (query) => query.where('key', 'in', keys ?? []))
    .execute();
  return lanes.some(
    ({ due_at, lease_until, error }) =>
      due_at === null || due_at < now + SOON_MS || lease_until !== null || error !== null,
  );
}
