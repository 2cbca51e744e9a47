/** Where in history a time begins. */
import type { Db } from '../../store/store.ts';

/** Clocks of several daemons differ by less than this. */
export const CLOCK_SKEW_MS = 10 * 60_000;

/**
 * The id from which on history holds the decisions of a time and later; one after the last if there are none. Found by
 * halving, since history is kept in the order of its times: some reads by key. Clocks of several daemons may differ: allow
 * for {@link CLOCK_SKEW_MS}.
 */
export async function firstDecisionAt(db: Db, time: number): Promise<number> {
  const { last } = await db
    .selectFrom('history')
    .select(({ fn }) => fn.max('id').as('last'))
    .executeTakeFirstOrThrow();
  let [low, high] = [0, (last ?? 0) + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await db
      .selectFrom('history')
      .select(['id', 'at'])
      .where('id', '>=', middle)
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    if (row === undefined || row.at >= time) high = middle;
    else low = row.id + 1;
  }
  return low;
}
