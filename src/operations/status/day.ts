/** What happened in the last 24 hours, counted with bounded reads: the tables are too large to be counted whole. */
import { sql } from 'kysely';
import { countFailing } from '../../service/delivery/deliveries.ts';
import { countRows } from '../../store/count.ts';
import { elements } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';

/** A count; `about` if it was worked out from a part of the rows, `at least` if only a part was counted. */
export interface Figure {
  readonly count: number;
  readonly isAbout: boolean;
  readonly isAtLeast?: boolean;
}

export interface Day {
  readonly events: Figure;
  readonly records: Figure;
  readonly kept: Figure;
  readonly deliveries: Figure;
  /** Deliveries that wait for another attempt, whenever they were made. */
  readonly failing: Figure;
}

const DAY_MS = 86_400_000;
/** Rows looked at: with more, the newest of them stand for all. */
const SAMPLE = 10_000;
const MOST_DELIVERIES = 50_000;
const MOST_FAILING = 1_000;

const atMost = (count: number, most: number): Figure => ({
  count: Math.min(count, most),
  isAbout: false,
  ...(count > most && { isAtLeast: true }),
});

/** Reads the figures: some reads by key, and ten thousand rows at most. */
export async function readDay(db: Db, now: number): Promise<Day> {
  const since = now - DAY_MS;
  const deliveries = await countRows(
    db,
    db
      .selectFrom('delivery')
      .select('seq')
      .where('created_at', '>=', since)
      .limit(MOST_DELIVERIES + 1),
  );
  return {
    events: { count: await countReceipts(db, since), isAbout: false },
    ...(await readDecisions(db, since)),
    failing: atMost(await countFailing(db, MOST_FAILING + 1), MOST_FAILING),
    deliveries: { count: Math.min(deliveries, MOST_DELIVERIES), isAbout: deliveries > MOST_DELIVERIES },
  };
}

async function countReceipts(db: Db, since: number): Promise<number> {
  const { last } = await db
    .selectFrom('receipt')
    .select(({ fn }) => fn.max('seq').as('last'))
    .executeTakeFirstOrThrow();
  const first = await firstSince(last ?? 0, since, (seq) =>
    db
      .selectFrom('receipt')
      .select(['seq as key', 'received_at as at'])
      .where('seq', '>=', seq)
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst(),
  );
  return first === undefined ? 0 : (last ?? 0) - first + 1;
}

/** Decisions are in the order of their times: the first of the day is found by halving, and the newest are looked at. */
async function readDecisions(db: Db, since: number): Promise<Pick<Day, 'records' | 'kept'>> {
  const { last } = await db
    .selectFrom('history')
    .select(({ fn }) => fn.max('id').as('last'))
    .executeTakeFirstOrThrow();
  const first = await firstSince(last ?? 0, since, (id) =>
    db
      .selectFrom('history')
      .select(['id as key', 'at'])
      .where('id', '>=', id)
      .orderBy('id')
      .limit(1)
      .executeTakeFirst(),
  );
  if (first === undefined || last === null) return { records: NONE, kept: NONE };
  const from = Math.max(first, last - SAMPLE + 1);
  const { rows } = await sql<{ records: number; kept: number }>`select
      cast(count(distinct case when outcome = 'written' then provider || ':' || record_id end) as bigint) as records,
      cast(coalesce(sum(case when outcome = 'kept' then (select count(*) from ${elements(db, 'lines')}) else 0 end), 0)
        as bigint) as kept
    from history where id >= ${from}`.execute(db);
  const share = (last - first + 1) / (last - from + 1);
  const { records = 0, kept = 0 } = rows[0] ?? {};
  return {
    // Not times the share: the same records may be written again and again.
    records: { count: records, isAbout: false, ...(share > 1 && { isAtLeast: true }) },
    kept: { count: Math.round(kept * share), isAbout: share > 1 },
  };
}

const NONE: Figure = { count: 0, isAbout: false };

interface Dated {
  readonly key: number;
  readonly at: number;
}

/** The key of the first row since a time, in a table whose keys rise with its times; `next` finds the row at a key or after it. */
async function firstSince(
  last: number,
  since: number,
  next: (key: number) => Promise<Dated | undefined>,
): Promise<number | undefined> {
  let [low, high] = [0, last + 1];
  let found: number | undefined;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await next(middle);
    if (row === undefined || row.at >= since) {
      found = row?.key ?? found;
      high = middle;
    } else low = row.key + 1;
  }
  return found;
}
