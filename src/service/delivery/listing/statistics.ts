/** Delivery statistics of monitors for the last 24 hours, with bounded queries even for busy monitors. */

import type { DeliveryTable } from '../../../store/service-schema.ts';
import type { Db } from '../../../store/store.ts';

export interface DeliveryStatistics {
  readonly tried: number;
  readonly delivered: number;
  /** From the change to the answer that accepted it, in ms: the median and the 95th percentile. */
  readonly latency: { readonly median: number; readonly slow: number } | undefined;
  /** Whether there were more deliveries than these newest ones. */
  readonly isSample: boolean;
  /** The newest that were tried, oldest first: whether each arrived. */
  readonly recent: readonly boolean[];
}

const DAY_MS = 86_400_000;
const SAMPLE = 500;
const RECENT = 60;
type StoredState = DeliveryTable['state'];
const STATES: readonly StoredState[] = ['done', 'due', 'held', 'failed'];

export async function readDeliveryStatistics(
  db: Db,
  monitors: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, DeliveryStatistics>> {
  const since = now - DAY_MS;
  const read = monitors.map(async (monitor) => [monitor, statisticsOf(await readSample(db, monitor, since))] as const);
  return new Map(await Promise.all(read));
}

interface Row {
  readonly seq: number;
  readonly attempts: number;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly state: StoredState;
}

interface Sample {
  readonly rows: readonly Row[];
  readonly isSample: boolean;
}

/** The newest deliveries of a monitor, by its index of states, all back to the same delivery. */
async function readSample(db: Db, monitor: string, since: number): Promise<Sample> {
  const lists = await Promise.all(
    STATES.map(async (state) => {
      const newest = db
        .selectFrom('delivery')
        .select(['seq', 'attempts', 'created_at', 'ended_at', 'state'])
        .where('monitor', '=', monitor)
        .where('state', '=', state)
        .orderBy('seq', 'desc')
        .limit(SAMPLE);
      const rows = await db
        .selectFrom(newest.as('newest'))
        .select(['seq', 'attempts', 'created_at as createdAt', 'ended_at as endedAt', 'state'])
        .where('created_at', '>=', since)
        .execute();
      return { rows, first: rows.length < SAMPLE ? 0 : Math.min(...rows.map(({ seq }) => seq)) };
    }),
  );
  const from = Math.max(...lists.map(({ first }) => first));
  return { rows: lists.flatMap(({ rows }) => rows.filter(({ seq }) => seq >= from)), isSample: from > 0 };
}

function statisticsOf({ rows, isSample }: Sample): DeliveryStatistics {
  const took = rows
    .flatMap(({ state, createdAt, endedAt }) => (state === 'done' && endedAt !== null ? [endedAt - createdAt] : []))
    .toSorted((a, b) => a - b);
  const tried = rows.filter(({ attempts }) => attempts > 0);
  const at = (part: number): number => took[Math.ceil(took.length * part) - 1] ?? 0;
  return {
    tried: tried.length,
    delivered: took.length,
    latency: took.length === 0 ? undefined : { median: at(0.5), slow: at(0.95) },
    isSample,
    recent: tried
      .toSorted((a, b) => a.seq - b.seq)
      .slice(-RECENT)
      .map(({ state }) => state === 'done'),
  };
}
