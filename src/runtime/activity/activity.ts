/** Counts by the hour (90 days) and by the day (two years), for charts. Days begin at midnight in Copenhagen. */
import { sql } from 'kysely';
import { clockAt, instantOfClock } from '../../protocol/danish/clock.ts';
import { eachRow } from '../../store/each.ts';
import type { ActivityKind } from '../../store/runtime-schema.ts';
import type { Db, Tx } from '../../store/store.ts';

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const KEPT_DAYS = { hour: 90, day: 731 } as const;

export type ChartSpan = keyof typeof KEPT_DAYS;

export interface ActivityCount {
  /** The start of its hour. */
  readonly at: number;
  readonly kind: ActivityKind;
  /** A connection or a monitor; empty for the installation. */
  readonly subject: string;
  readonly count: number;
}

/** The start of a time's hour, or of its Danish day. */
export function startOf(span: ChartSpan, at: number): number {
  if (span === 'hour') return at - (at % HOUR_MS);
  const clock = clockAt(at);
  return instantOfClock(clock - (clock % DAY_MS));
}

/** Adds counts to their hours and days; `replace` replaces states. */
export async function addActivity(tx: Tx, counted: readonly ActivityCount[], how: 'add' | 'replace'): Promise<void> {
  const rows = (['hour', 'day'] as const).flatMap((span) =>
    [...Map.groupBy(counted, ({ at, kind, subject }) => `${startOf(span, at)} ${kind} ${subject}`).values()].map(
      (group) => {
        const [first] = group;
        const count = how === 'add' ? group.reduce((sum, each) => sum + each.count, 0) : (group.at(-1)?.count ?? 0);
        return {
          span,
          at: startOf(span, first?.at ?? 0),
          kind: first?.kind ?? '',
          subject: first?.subject ?? '',
          count,
        };
      },
    ),
  );
  if (rows.length === 0) return;
  const count = how === 'add' ? sql`activity.count + excluded.count` : sql`excluded.count`;
  await sql`insert into activity (span, at, kind, subject, count)
    select each.span, cast(each.at as bigint), each.kind, each.subject, cast(each.count as bigint)
    from ${eachRow(tx, ['span', 'at', 'kind', 'subject', 'count'], rows)} where true
    on conflict (span, kind, subject, at) do update set count = ${count}`.execute(tx);
}

/** Reads spans from a time on, in order: at most 2,160 hours or 731 days a kind and subject. */
export async function readActivity(
  db: Db,
  span: ChartSpan,
  kinds: readonly ActivityKind[],
  since: number,
): Promise<readonly ActivityCount[]> {
  const rows = await db
    .selectFrom('activity')
    .select(['at', 'kind', 'subject', 'count'])
    .where('span', '=', span)
    .where('kind', 'in', kinds)
    .where('at', '>=', startOf(span, since))
    .orderBy('at')
    .execute();
  return rows;
}

export async function pruneActivity(tx: Tx, now: number): Promise<void> {
  for (const span of ['hour', 'day'] as const)
    await tx
      .deleteFrom('activity')
      .where('span', '=', span)
      .where('at', '<', now - KEPT_DAYS[span] * DAY_MS)
      .execute();
}
