/** Counts lanes by queue and state. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { inPages, ROWS_AT_ONCE } from '../../store/count.ts';
import type { Db } from '../../store/store.ts';

export interface Count {
  readonly queue: string;
  readonly ready: number;
  readonly waiting: number;
  readonly leased: number;
  readonly parked: number;
  /** Since when the oldest lane that is not parked is behind. */
  readonly oldestSince: number | undefined;
}

/**
 * The state of every queue that has lanes, by name. Reads all lanes page by page, so call it seldom; lanes that change
 * meanwhile may be missed.
 */
export async function counts(db: Db, now: number): Promise<readonly Count[]> {
  const found = new Map<string, Count>();
  await inPages<LaneName>({ queue: '', key: '' }, async (after) => {
    const page = await countPage(db, after, now);
    for (const { last: _, lanes: __, ...count } of page) found.set(count.queue, sumOf(found.get(count.queue), count));
    const end = page.at(-1);
    const isWhole = page.reduce((sum, { lanes }) => sum + lanes, 0) === ROWS_AT_ONCE;
    return isWhole && end !== undefined ? { queue: end.queue, key: end.last } : undefined;
  });
  return [...found.values()];
}

interface LaneName {
  readonly queue: string;
  readonly key: string;
}

function sumOf(a: Count | undefined, b: Count): Count {
  if (a === undefined) return b;
  const oldest = [a.oldestSince, b.oldestSince].filter((since) => since !== undefined);
  return {
    queue: a.queue,
    ready: a.ready + b.ready,
    waiting: a.waiting + b.waiting,
    leased: a.leased + b.leased,
    parked: a.parked + b.parked,
    oldestSince: oldest.length === 0 ? undefined : Math.min(...oldest),
  };
}

interface CountPage extends Count {
  /** The last key of the queue in the page, and its number of lanes there. */
  readonly last: string;
  readonly lanes: number;
}

async function countPage(db: Db, { queue, key }: LaneName, now: number): Promise<readonly CountPage[]> {
  const count = (condition: RawBuilder<unknown>) =>
    sql<number>`cast(sum(case when ${condition} then 1 else 0 end) as bigint)`;
  const page = db
    .selectFrom('lane')
    .select(['queue', 'key', 'fence', 'due_at', 'parked_at', 'since'])
    .where(sql<SqlBool>`(queue, key) > (${queue}, ${key})`)
    .orderBy('queue')
    .orderBy('key')
    .limit(ROWS_AT_ONCE);
  const rows = await db
    .selectFrom(page.as('lane'))
    .select(({ fn }) => [
      'queue',
      fn.max('key').as('last'),
      count(sql`true`).as('lanes'),
      count(sql`fence is null and due_at <= ${now}`).as('ready'),
      count(sql`fence is null and due_at > ${now}`).as('waiting'),
      count(sql`fence is not null`).as('leased'),
      count(sql`parked_at is not null`).as('parked'),
      fn.min(sql<number | null>`case when parked_at is null then since end`).as('oldest'),
    ])
    .groupBy('queue')
    .orderBy('queue')
    .execute();
  return rows.map(({ oldest, ...row }) => ({ ...row, oldestSince: oldest ?? undefined }));
}
