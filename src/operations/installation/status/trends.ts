/** Trends of the installation: counts by the hour or the day, and the runs that explain a bar. */
import { type ChartSpan, HOUR_MS, readActivity, startOf } from '../../../runtime/activity/activity.ts';
import type { ActivityKind } from '../../../store/runtime-schema.ts';
import type { Db } from '../../../store/store.ts';

const BARS = { hour: 24, day: 30 } as const;

const COUNTED = [
  'written',
  'kept',
  'refused',
  'received',
  'sent',
  'failed',
  'behind',
] as const satisfies ActivityKind[];
export type CountedKind = (typeof COUNTED)[number];

export interface Bar {
  readonly from: number;
  readonly until: number;
  readonly counts: Readonly<Partial<Record<CountedKind, number>>>;
}

/** A run that somebody started in the time of a chart: it may explain a high bar. */
export interface Mark {
  readonly at: number;
  readonly run: number;
  readonly task: string;
  readonly actor: string;
}

export interface Trends {
  readonly span: ChartSpan;
  /** Oldest first; the last one is incomplete. */
  readonly bars: readonly Bar[];
  readonly marks: readonly Mark[];
}

const MOST_MARKS = 20;

/** Reads the last 24 hours or 30 days: at most 200 rows a kind. */
export async function readTrends(db: Db, span: ChartSpan, now: number): Promise<Trends> {
  const starts = startsOf(span, now);
  const since = starts[0] ?? now;
  const counted = Map.groupBy(await readActivity(db, span, COUNTED, since), ({ at }) => at);
  const runs = await db
    .selectFrom('run')
    .select(['id', 'task', 'actor', 'created_at'])
    .where('stage', '=', 'run')
    .where('created_at', '>=', since)
    .orderBy('id', 'desc')
    .limit(MOST_MARKS)
    .execute();
  return {
    span,
    bars: starts.map((from, index) => ({
      from,
      until: starts[index + 1] ?? now,
      counts: sumByKind(counted.get(from) ?? []),
    })),
    marks: runs.map(({ id, created_at, ...run }) => ({ ...run, run: id, at: created_at })).reverse(),
  };
}

/** Days have 23 to 25 hours, so each start is found within the day before. */
function startsOf(span: ChartSpan, now: number): readonly number[] {
  const starts = [startOf(span, now)];
  while (starts.length < BARS[span]) starts.unshift(startOf(span, (starts[0] ?? now) - HOUR_MS));
  return starts;
}

export async function readDay(db: Db, now: number): Promise<Bar['counts']> {
  const [first] = startsOf('hour', now);
  return sumByKind(await readActivity(db, 'hour', COUNTED, first ?? now));
}

function sumByKind(rows: Awaited<ReturnType<typeof readActivity>>): Bar['counts'] {
  const sums: Partial<Record<ActivityKind, number>> = {};
  for (const { kind, count } of rows) sums[kind] = (sums[kind] ?? 0) + count;
  return sums;
}

/** The records of a connection by state, as last counted. */
export interface Share {
  readonly provider: string;
  readonly at: number;
  readonly linked: number;
  readonly failing: number;
  readonly left: number;
  readonly differing: number;
}

const STATES_MS = 24 * HOUR_MS;

/** Records are counted every ten minutes. */
export async function readShares(db: Db, now: number): Promise<readonly Share[]> {
  const rows = await readActivity(db, 'hour', ['linked', 'failing', 'left', 'differing'], now - STATES_MS);
  return [...Map.groupBy(rows, ({ subject }) => subject)].map(([provider, own]) => {
    const last = (kind: ActivityKind): number => own.findLast((row) => row.kind === kind)?.count ?? 0;
    return {
      provider,
      at: own.at(-1)?.at ?? now,
      ...{ linked: last('linked'), failing: last('failing'), left: last('left'), differing: last('differing') },
    };
  });
}
