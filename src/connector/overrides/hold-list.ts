/** Lists, counts and ends holds, by a filter. */
import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import type { StepRecorder } from '../../runtime/operators/audit.ts';
import { countRows } from '../../store/count.ts';
import { eachRow } from '../../store/each.ts';
import type { Db, Store } from '../../store/store.ts';
import { ALL_PROPERTIES, markOverridden, type OverrideRef } from './override.ts';

export interface HoldFilter {
  readonly provider?: string | undefined;
  readonly property?: string | undefined;
  /** The exact reason; an undo places `undone`. */
  readonly reason?: string | undefined;
  readonly before?: number | undefined;
}

export interface Hold extends OverrideRef {
  /** The company of the record's link; undefined without one. */
  readonly entity: string | undefined;
  readonly reason: string | null;
  readonly since: number;
  /** Null: never. */
  readonly until: number | null;
}

const selectHolds = (db: Db, now: number, { provider, property, reason, before }: HoldFilter) =>
  db
    .selectFrom('override')
    .where('kind', '=', 'hold')
    .where((where) => where.or([where('until', 'is', null), where('until', '>', now)]))
    .$if(provider !== undefined, (query) => query.where('provider', '=', provider ?? ''))
    .$if(property !== undefined, (query) => query.where('property', '=', property ?? ''))
    .$if(reason !== undefined, (query) => query.where('reason', '=', reason ?? ''))
    .$if(before !== undefined, (query) => query.where('created_at', '<', before ?? 0));

/** Sorted by connection, record and property; the next page starts `after` the last hold of this one. */
export async function listHolds(
  db: Db,
  now: number,
  filter: HoldFilter & { readonly after?: OverrideRef | undefined },
  limit: number,
): Promise<readonly Hold[]> {
  const { after } = filter;
  const rows = await selectHolds(db, now, filter)
    .select(['provider', 'record_id', 'property', 'reason', 'until', 'created_at'])
    .select((each) =>
      each
        .selectFrom('link')
        .select('link.entity')
        .whereRef('link.provider', '=', 'override.provider')
        .whereRef('link.record_id', '=', 'override.record_id')
        .where('link.state', '=', 'active')
        .as('entity'),
    )
    .$if(after !== undefined, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(
          refTuple('provider', 'record_id', 'property'),
          '>',
          tuple(after?.provider ?? '', after?.recordId ?? '', after?.property ?? ''),
        ),
      ),
    )
    .orderBy('provider')
    .orderBy('record_id')
    .orderBy('property')
    .limit(limit)
    .execute();
  return rows.map(({ provider, record_id, property, entity, reason, until, created_at }) => ({
    provider,
    recordId: record_id,
    property,
    entity: entity ?? undefined,
    reason,
    since: created_at,
    until,
  }));
}

export const countHolds = (
  db: Db,
  now: number,
  filter: HoldFilter = {},
  most = Number.MAX_SAFE_INTEGER,
): Promise<number> => countRows(db, selectHolds(db, now, filter).select('record_id').limit(most));

const PAGE = 500;

/** Ends the holds and marks their records for a sync; returns their number. */
export async function endHoldsIn(
  { store, recorded }: { readonly store: Pick<Store, 'write'>; readonly recorded: StepRecorder },
  filter: HoldFilter,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  let entry: number | undefined;
  for (let ended = 0; ; ) {
    signal.throwIfAborted();
    const step = await store.write(async (tx) => {
      const holds = await listHolds(tx, now, filter, PAGE);
      for (const hold of holds) if (hold.property === ALL_PROPERTIES) await markOverridden(tx, hold, now);
      for (const [provider, some] of Map.groupBy(holds, (hold) => hold.provider))
        await mark(tx, `sync:${provider}`, [...new Set(some.map(({ recordId }) => recordId))], now);
      const rows = holds.map(({ provider, recordId, property }) => ({ provider, recordId, property }));
      await sql`delete from override where kind = 'hold' and (provider, record_id, property) in
        (select each.provider, each."recordId", each.property
          from ${eachRow(tx, ['provider', 'recordId', 'property'], rows)})`.execute(tx);
      const { length: count } = holds;
      return { count, entry: count === 0 ? entry : await recorded(tx, ended + count, entry) };
    });
    ({ entry } = step);
    ended += step.count;
    if (step.count < PAGE) return ended;
  }
}
