/** Delivery statistics of monitors for the last 24 hours. Bounded queries, also for busy monitors. */

import { sql } from 'kysely';
import type { DeliveryTable } from '../../../store/service-schema.ts';
import type { Db } from '../../../store/store.ts';

export interface DeliveryStatistics {
  readonly tried: number;
  readonly delivered: number;
  /** From the change to the answer that accepted it, in ms: median and 95th percentile. */
  readonly latency: { readonly median: number; readonly slow: number } | undefined;
  /** Whether there were older deliveries than the sample. */
  readonly isSample: boolean;
  /** Whether each of the newest attempted deliveries arrived, oldest first. */
  readonly recent: readonly boolean[];
}

const DAY_MS = 86_400_000;
const SAMPLE = 500;
const RECENT = 60;
type StoredState = DeliveryTable['state'];
const STATES: readonly StoredState[] = ['done', 'due', 'held', 'failed'];

/** `sample`: how many of the newest deliveries to read. */
export async function readDeliveryStatistics(
  db: Db,
  monitors: readonly string[],
  now: number,
  sample = SAMPLE,
): Promise<ReadonlyMap<string, DeliveryStatistics>> {
  const since = now - DAY_MS;
  const read = monitors.map(
    async (monitor) => [monitor, statisticsOf(await readSample(db, { monitor, since, sample }))] as const,
  );
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

/** The newest deliveries of a monitor. Each state goes back to the same delivery. */
async function readSample(
  db: Db,
  { monitor, since, sample }: { readonly monitor: string; readonly since: number; readonly sample: number },
): Promise<Sample> {
  const newest = STATES.map(
    (state) => sql`select * from (select seq, attempts, created_at as "createdAt", ended_at as "endedAt", state
      from delivery where monitor = ${monitor} and state = ${state} order by seq desc limit ${sample}) as newest`,
  );
  const { rows: all } = await sql<Row>`${sql.join(newest, sql` union all `)}`.execute(db);
  const rows = all.filter(({ createdAt }) => createdAt >= since);
  const firsts = [...Map.groupBy(rows, ({ state }) => state).values()].map((of) =>
    of.length < sample ? 0 : Math.min(...of.map(({ seq }) => seq)),
  );
  const from = Math.max(0, ...firsts);
  return { rows: rows.filter(({ seq }) => seq >= from), isSample: from > 0 };
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
