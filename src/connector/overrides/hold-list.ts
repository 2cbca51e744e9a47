/** Lists, counts and ends holds, by a filter. */
import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import type { StepRecorder } from '../../runtime/operators/audit.ts';
import { countRows } from '../../store/count.ts';
import { eachRow } from '../../store/each.ts';
import type { Db, Store } from '../../store/store.ts';
import { ALL_PROPERTIES, HOLD, type HoldOrigin, markOverridden, type Override, type OverrideRef } from './override.ts';

export interface HoldFilter {
  readonly provider?: string | undefined;
  readonly property?: string | undefined;
  readonly origin?: HoldOrigin | undefined;
  /** The exact reason. */
  readonly reason?: string | undefined;
  /** Placed before. */
  readonly before?: number | undefined;
  /** Ends before: then the list begins with what ends first. */
  readonly endsBefore?: number | undefined;
  /** Only these. */
  readonly chosen?: readonly OverrideRef[] | undefined;
}

/** The last hold of a page. */
export interface HoldPlace extends OverrideRef {
  readonly until: number | null;
}

export interface Hold extends HoldPlace {
  /** The company of the record's link; undefined without one. */
  readonly entity: string | undefined;
  readonly reason: string | null;
  readonly since: number;
  readonly origin: HoldOrigin;
  /** Null, as `placedVia`, if nobody knows. */
  readonly placedBy: string | null;
  readonly placedVia: Override['placedVia'];
}

const refTo = ({ provider, recordId, property }: OverrideRef) => sql`(${provider}, ${recordId}, ${property})`;
const KEY = sql`(override.provider, override.record_id, override.property)`;

/** What the filter finds behind a place, so that one index leads there: by the end, else by the key. */
function selectHolds(db: Db, now: number, filter: HoldFilter & { readonly after?: HoldPlace | undefined }) {
  const { provider, property, origin, reason, before, endsBefore, chosen, after } = filter;
  const holds = db
    .selectFrom('override')
    .where('kind', '=', HOLD)
    .$if(reason !== undefined, (query) => query.where('reason', '=', reason ?? ''))
    .$if(before !== undefined, (query) => query.where('created_at', '<', before ?? 0))
    .$if(chosen !== undefined, (query) => query.where(sql<boolean>`${KEY} in ${rowsOf(db, chosen ?? [])}`));
  if (endsBefore !== undefined) {
    // Of an expression no engine takes the index.
    const is = (column: 'provider' | 'property' | 'origin', text: string) =>
      sql<boolean>`(${sql.ref(column)} || '') = ${text}`;
    return holds
      .where('until', '>', now)
      .where('until', '<', endsBefore)
      .$if(after !== undefined && after.until !== null, (query) =>
        query.where(
          sql<boolean>`(override.until, override.provider, override.record_id, override.property) >
            (${after?.until}, ${after?.provider}, ${after?.recordId}, ${after?.property})`,
        ),
      )
      .$if(provider !== undefined, (query) => query.where(is('provider', provider ?? '')))
      .$if(property !== undefined, (query) => query.where(is('property', property ?? '')))
      .$if(origin !== undefined, (query) => query.where(is('origin', origin ?? '')));
  }
  const from = after ?? { provider: provider ?? '', recordId: '', property: '' };
  return (
    holds
      .where((where) => where.or([where('until', 'is', null), where('until', '>', now)]))
      .where(sql<boolean>`${KEY} > ${refTo(from)}`)
      // A range: for equality SQLite leaves the index of the origin or the property.
      .$if(provider !== undefined, (query) => query.where('provider', '<=', provider ?? ''))
      .$if(property !== undefined, (query) => query.where('property', '=', property ?? ''))
      .$if(origin !== undefined, (query) => query.where('origin', '=', origin ?? 'person'))
  );
}

const rowsOf = (db: Db, refs: readonly OverrideRef[]) => {
  const rows = refs.map(({ provider, recordId, property }) => ({ provider, recordId, property }));
  return sql`(select each.provider, each."recordId", each.property
    from ${eachRow(db, ['provider', 'recordId', 'property'], rows)})`;
};

/** A page in its order. What little ends soon of much is found in the index alone, before any other column is read. */
function selectPage(
  db: Db,
  now: number,
  filter: HoldFilter & { readonly after?: HoldPlace | undefined },
  limit: number,
) {
  const { endsBefore, provider, property, origin } = filter;
  const isThinned = endsBefore !== undefined && [provider, property, origin].some((each) => each !== undefined);
  const ordered = (of: ReturnType<typeof selectHolds>) =>
    of
      .$if(endsBefore !== undefined, (query) => query.orderBy('until'))
      .orderBy('provider')
      .orderBy('record_id')
      .orderBy('property')
      .limit(limit);
  const holds = ordered(selectHolds(db, now, filter));
  if (!isThinned) return holds;
  const keys = holds.select(['override.provider', 'override.record_id', 'override.property']);
  return ordered(db.selectFrom('override').where(sql<boolean>`${KEY} in (select * from ${keys} as page)`));
}

/** By connection, record and property, or by the end; the next page starts `after` the last hold of this one. */
export async function listHolds(
  db: Db,
  now: number,
  filter: HoldFilter & { readonly after?: HoldPlace | undefined },
  limit: number,
): Promise<readonly Hold[]> {
  const rows = await selectPage(db, now, filter, limit)
    .select(['provider', 'record_id', 'property', 'reason', 'until', 'created_at', 'origin', 'placed_by', 'placed_via'])
    .select((each) =>
      each
        .selectFrom('link')
        .select('link.entity')
        .whereRef('link.provider', '=', 'override.provider')
        .whereRef('link.record_id', '=', 'override.record_id')
        .where('link.state', '=', 'active')
        .as('entity'),
    )
    .execute();
  return rows.map(
    ({ provider, record_id, property, entity, reason, until, created_at, origin, placed_by, placed_via }) => ({
      provider,
      recordId: record_id,
      property,
      entity: entity ?? undefined,
      reason,
      since: created_at,
      until,
      origin,
      placedBy: placed_by,
      placedVia: placed_via,
    }),
  );
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
      await sql`delete from override where kind = 'hold' and ${KEY} in ${rowsOf(tx, holds)}`.execute(tx);
      const { length: count } = holds;
      return { count, entry: count === 0 ? entry : await recorded(tx, ended + count, entry) };
    });
    ({ entry } = step);
    ended += step.count;
    if (step.count < PAGE) return ended;
  }
}
