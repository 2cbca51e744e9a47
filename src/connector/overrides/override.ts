/** A person's decision about one property of a record, or about all; it takes precedence over the policy. */

import { type Selectable, sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import type { AuditEntry } from '../../runtime/operators/audit.ts';
import { each, eachRow } from '../../store/each.ts';
import { readErasures } from '../../store/erasure/erasures.ts';
import type { OverrideTable } from '../../store/schema.ts';
import type { Db, Tx } from '../../store/store.ts';
import { noteQueue, parentQueue, type RecordRef } from '../names/queues.ts';

/** Every property of a record. */
export const ALL_PROPERTIES = '*';

export interface Override {
  /** `release`: the register wins over a person's edit; `hold`: nothing is written. */
  readonly kind: Exclude<OverrideTable['kind'], 'merged'>;
  /** Ends with the first write, or when the CRM holds the value already. */
  readonly once: boolean;
  /** Null: until somebody clears it. */
  readonly until: number | null;
  readonly reason: string | null;
  readonly createdAt: number;
  /** The CRM value, as JSON, that the release covers; absent or null: any value. */
  readonly seen?: string | null | undefined;
  /** `person` if absent. */
  readonly origin?: HoldOrigin;
  /** Null, as `placedVia`, if nobody knows. */
  readonly placedBy?: string | null;
  readonly placedVia?: OverrideTable['placed_via'] | undefined;
}

/** A literal: only then the engines use the indexes of holds. */
export const HOLD = sql.lit<'hold'>('hold');

/** What places an override. */
export type HoldOrigin = Selectable<OverrideTable>['origin'];

export const HOLD_ORIGINS = ['person', 'review', 'undo'] as const satisfies readonly HoldOrigin[];

/** An override that is to be placed. */
export type NewOverride = Omit<Override, 'createdAt' | 'placedBy' | 'placedVia'>;

/** Who places an override, and from where; `origin` is `person` if absent. */
export interface Placement {
  readonly origin?: HoldOrigin;
  readonly by?: Pick<AuditEntry, 'actor' | 'via'> | undefined;
}

/** The columns of a placement. */
export const placedBy = ({ origin = 'person', by }: Placement) => ({
  origin,
  placed_by: by?.actor.name ?? null,
  placed_via: by?.via ?? null,
});

export type Overrides = ReadonlyMap<string, Override>;

export const overrideFor = (overrides: Overrides, property: string): Override | undefined =>
  overrides.get(property) ?? overrides.get(ALL_PROPERTIES);

/** The overrides in force at `now`, by record id. */
export async function readOverrides(
  db: Db,
  provider: string,
  ids: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, Overrides>> {
  const rows = await db
    .selectFrom('override')
    .selectAll()
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .where('kind', '!=', 'merged')
    .where((where) => where.or([where('until', 'is', null), where('until', '>', now)]))
    .orderBy('property')
    .$narrowType<Pick<Override, 'kind'>>()
    .execute();
  return new Map(
    [...Map.groupBy(rows, (row) => row.record_id)].map(([id, own]) => [
      id,
      new Map(own.map((row) => [row.property, overrideOf(row)])),
    ]),
  );
}

const overrideOf = ({
  kind,
  once,
  created_at,
  placed_by,
  placed_via,
  ...row
}: Selectable<OverrideTable> & Pick<Override, 'kind'>): Override => ({
  kind,
  once: once === 1,
  until: row.until,
  reason: row.reason,
  createdAt: created_at,
  seen: row.seen,
  origin: row.origin,
  placedBy: placed_by,
  placedVia: placed_via,
});

/** A property of a record, or {@link ALL_PROPERTIES}. */
export interface OverrideRef extends RecordRef {
  readonly property: string;
}

/** Replaces the property's override and marks the record for a sync. */
export async function setOverride(
  tx: Tx,
  { provider, recordId, property }: OverrideRef,
  { reason: given, ...override }: NewOverride & Placement,
  now: number,
): Promise<void> {
  await markOverridden(tx, { provider, recordId, property }, now);
  const { kind, until, seen = null } = override;
  const reason = (await readErasures(tx)).redact(given);
  const row = { kind, once: override.once ? 1 : 0, until, reason, created_at: now, seen, ...placedBy(override) };
  await tx
    .insertInto('override')
    .values({ provider, record_id: recordId, property, ...row })
    .onConflict((conflict) => conflict.columns(['provider', 'record_id', 'property']).doUpdateSet(row))
    .execute();
}

/** Marks a record whose override changed; with a hold on all properties, also its waiting notes and parent. */
export async function markOverridden(
  tx: Tx,
  { provider, recordId, property }: OverrideRef,
  now: number,
): Promise<void> {
  await mark(tx, `sync:${provider}`, [recordId], now);
  if (property !== ALL_PROPERTIES) return;
  const queues = [noteQueue(provider), parentQueue(provider)];
  const waiting = await tx
    .selectFrom('lane')
    .select('queue')
    .where('queue', 'in', queues)
    .where('key', '=', recordId)
    .where('parked_at', 'is', null)
    .execute();
  for (const queue of queues) if (waiting.some((lane) => lane.queue === queue)) await mark(tx, queue, [recordId], now);
}

/** Ends an override of this kind and marks the record for a sync. False without one. */
export async function clearOverride(
  tx: Tx,
  { provider, recordId, property }: OverrideRef,
  kind: Override['kind'],
  now: number,
): Promise<boolean> {
  await markOverridden(tx, { provider, recordId, property }, now);
  const { numDeletedRows } = await tx
    .deleteFrom('override')
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .where('property', '=', property)
    .where('kind', '=', kind)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export interface Spent {
  readonly id: string;
  readonly property: string;
  readonly createdAt: number;
}

/** Ends used releases; one that was placed again meanwhile stays. */
export async function endUsedOverrides(tx: Tx, provider: string, spent: readonly Spent[]): Promise<void> {
  if (spent.length === 0) return;
  const rows = spent.map(({ id, property, createdAt }) => ({ id, property, at: createdAt }));
  await sql`delete from override where provider = ${provider} and once = 1 and (record_id, property, created_at) in
    (select each.id, each.property, cast(each.at as bigint)
      from ${eachRow(tx, ['id', 'property', 'at'], rows)})`.execute(tx);
}

/** After a merge, the survivor inherits which properties the register already won: their values are people's now. */
export async function moveTrust(tx: Tx, provider: string, from: string, to: string): Promise<void> {
  await sql`insert into property_state (provider, record_id, property, trusted_at)
    select provider, cast(${to} as text), property, trusted_at from property_state
    where provider = ${provider} and record_id = ${from} and trusted_at is not null
    on conflict (provider, record_id, property) do update set
      trusted_at = coalesce(property_state.trusted_at, excluded.trusted_at)`.execute(tx);
}

export async function deleteEnded(tx: Tx, before: number): Promise<void> {
  // Releases have no end.
  await tx.deleteFrom('override').where('kind', '=', HOLD).where('until', '<=', before).execute();
}

export type RecordProperty = { readonly id: string; readonly property: string };

/** Ends holds of undo. */
export async function endUndoHolds(tx: Tx, provider: string, rows: readonly RecordProperty[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`delete from override where provider = ${provider} and kind = 'hold' and origin = 'undo'
    and (record_id, property) in
      (select each.id, each.property from ${eachRow(tx, ['id', 'property'], rows)})`.execute(tx);
}
