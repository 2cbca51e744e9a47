/** Differences: properties whose CRM value differs from the register's, left to a person. */
import { type Selectable, sql } from 'kysely';
import type { PropertyValue } from '../../../providers/provider.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { countEach } from '../../store/count.ts';
import { each, eachRow } from '../../store/each.ts';
import type { PropertyStateTable } from '../../store/schema.ts';
import type { Db, Tx } from '../../store/store.ts';
import { isBlank } from '../decide/decide.ts';
import type { RecordRef } from '../names/queues.ts';
import { type OverrideRef, overrideFor, type Placement, readOverrides, setOverride } from '../overrides/override.ts';
import {
  ACTIVE_LINK,
  connectionsWithDifferences,
  type DifferenceFilter,
  differencesIn,
  fromRange,
  ofProperty,
  orderOfRange,
  rangesOf,
} from './difference-rows.ts';

export interface Difference extends OverrideRef {
  readonly entity: string;
  readonly crm: string;
  readonly register: string;
  readonly since: number | null;
  readonly editor: { readonly name: string; readonly at: number } | undefined;
}

/** Sorted by connection, property and record; the next page starts `after` the last of this one. */
export async function readDifferences(
  db: Db,
  now: number,
  filter: DifferenceFilter,
  limit: number,
): Promise<readonly Difference[]> {
  const rows: DifferenceRow[] = [];
  for (const range of await rangesOf(db, filter)) {
    if (rows.length >= limit) break;
    const found =
      await sql<DifferenceRow>`select state.provider, state.property, state.record_id, state.kept, state.offered,
        state.kept_at, state.kept_by, ${ACTIVE_LINK} as entity
      ${fromRange(range, now)} order by ${orderOfRange(range)} limit ${limit - rows.length}`.execute(db);
    rows.push(...found.rows);
  }
  const others = await readOtherParts(db, rows);
  return rows.map(({ provider, property, record_id, entity, kept, offered, kept_at, kept_by }) => {
    const ref = { provider, property, recordId: record_id };
    const sides = sidesOf([{ property, kept, offered }, ...(others.get(propertyKey(ref)) ?? [])]);
    return {
      ...ref,
      entity: entity ?? '',
      ...sides,
      since: kept_at,
      editor: JSON.parse(kept_by ?? 'null') ?? undefined,
    };
  });
}

type DifferenceRow = Pick<
  Selectable<PropertyStateTable>,
  'provider' | 'property' | 'record_id' | 'kept' | 'offered' | 'kept_at' | 'kept_by'
> & { readonly entity: string | null };

type KeptPart = Pick<PropertyStateTable, 'property' | 'kept' | 'offered'>;

const propertyKey = ({ provider, recordId, property }: OverrideRef): string => `${provider} ${recordId} ${property}`;

async function readOtherParts(
  db: Db,
  rows: readonly Pick<PropertyStateTable, 'provider' | 'record_id'>[],
): Promise<ReadonlyMap<string, readonly KeptPart[]>> {
  if (rows.length === 0) return new Map();
  const ids = each(db, [...new Set(rows.map(({ record_id }) => record_id))]);
  const parts = await db
    .selectFrom('property_state')
    .select(['provider', 'record_id', 'property', 'kept', 'offered', 'kept_with'])
    .where('provider', 'in', each(db, [...new Set(rows.map(({ provider }) => provider))]))
    .where('record_id', 'in', ids)
    .where('kept_with', 'is not', null)
    .where('kept', 'is not', null)
    .orderBy('property')
    .execute();
  return Map.groupBy(parts, ({ provider, record_id: recordId, kept_with }) =>
    propertyKey({ provider, recordId, property: kept_with ?? '' }),
  );
}

/** Both sides as JSON; for several properties, a text that names each. */
function sidesOf(parts: readonly KeptPart[]): Pick<Difference, 'crm' | 'register'> {
  const [only, second] = parts;
  if (second === undefined) return { crm: only?.kept ?? 'null', register: only?.offered ?? 'null' };
  const sideOf = (value: (part: KeptPart) => string | null): string =>
    JSON.stringify(parts.map((part) => `${part.property}: ${readableValue(value(part))}`).join(', '));
  return { crm: sideOf(({ kept }) => kept), register: sideOf(({ offered }) => offered) };
}

const readableValue = (json: string | null): string => {
  const value: PropertyValue = JSON.parse(json ?? 'null');
  return isBlank(value) ? '–' : String(value);
};

/** Also for a difference under a hold; undefined without a difference. */
export async function readSides(db: Db, ref: OverrideRef): Promise<Pick<Difference, 'crm' | 'register'> | undefined> {
  const row = await db
    .selectFrom('property_state')
    .select(['provider', 'record_id', 'property', 'kept', 'offered'])
    .where('provider', '=', ref.provider)
    .where('record_id', '=', ref.recordId)
    .where('property', '=', ref.property)
    .where('kept', 'is not', null)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const others = await readOtherParts(db, [row]);
  return sidesOf([row, ...(others.get(propertyKey(ref)) ?? [])]);
}

/** How many wait under a filter, counted up to `most`. */
export async function countDifferences(
  db: Db,
  now: number,
  { property, ...filter }: DifferenceFilter = {},
  most = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  if (property !== undefined && filter.recordId === undefined)
    return (
      (await countByProperty(db, now, { provider: filter.provider, properties: [property] }, most)).get(property) ?? 0
    );
  const ranges = property === undefined ? [filter] : ofProperty({ ...filter, property });
  const counts = await countEach(
    db,
    ranges.map((range) => differencesIn(range, now)),
    { most },
  );
  return Math.min(
    counts.reduce((sum, { count }) => sum + count, 0),
    most,
  );
}

/** How many differences each property shows or is a part of, counted up to `most`, in one statement. */
export async function countByProperty(
  db: Db,
  now: number,
  { provider, properties }: { readonly provider?: string | undefined; readonly properties: readonly string[] },
  most: number,
): Promise<ReadonlyMap<string, number>> {
  const connections = provider === undefined ? await connectionsWithDifferences(db) : [provider];
  const rows = connections.flatMap((connection) => properties.map((property) => ({ provider: connection, property })));
  // Planned once for all of them.
  const wanted = { provider: sql.ref<string>('wanted.provider'), property: sql.ref<string>('wanted.property') };
  const counts = ofProperty(wanted).map(
    (range) =>
      sql`(select count(*) from (select 1 from ${differencesIn(range, now)} as waiting limit ${most}) as counted)`,
  );
  const found = await sql<{ readonly property: string; readonly count: number }>`select property,
      cast(${sql.join(counts, sql` + `)} as bigint) as count
    from (select provider, property from ${eachRow(db, ['provider', 'property'], rows)}) as wanted`.execute(db);
  const sums = new Map<string, number>();
  for (const { property, count } of found.rows) sums.set(property, Math.min((sums.get(property) ?? 0) + count, most));
  return sums;
}

/** Ends differences and refused values of properties that are no longer decided: unmapped, or of another company. */
export async function forgetUndecided(
  tx: Tx,
  provider: string,
  rows: readonly { readonly id: string; readonly property: string }[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`update property_state set kept = null, offered = null, kept_at = null,
      kept_with = null, refused = null, refused_reason = null, refused_schema = null, refused_until = null, refused_over = null
    where provider = ${provider} and (record_id, property) in
      (select each.id, each.property from ${eachRow(tx, ['id', 'property'], rows)})`.execute(tx);
}

/** `none`: there is no difference; `held`: a hold prevents a decision. */
type SettledDifference = { readonly properties: readonly string[] } | 'none' | 'held';

/**
 * Settles a difference: `register` lets the register win once over this CRM value only; `crm` holds the CRM's value, until a time or
 * until somebody ends the hold.
 * Refuses a held difference: an override of the property would beat a hold on the record.
 */
export async function settleDifference(
  tx: Tx,
  { by, ...ref }: OverrideRef & Pick<Placement, 'by'>,
  winner: 'register' | 'crm' | { readonly crmUntil: number | null },
  now: number,
): Promise<SettledDifference> {
  const kind = winner === 'register' ? 'release' : 'hold';
  const parts = await tx
    .selectFrom('property_state')
    .select(['property', 'kept'])
    .where('provider', '=', ref.provider)
    .where('record_id', '=', ref.recordId)
    .where(({ or, eb }) => or([eb('property', '=', ref.property), eb('kept_with', '=', ref.property)]))
    .where('kept', 'is not', null)
    .execute();
  if (!parts.some(({ property }) => property === ref.property)) return 'none';
  // A process that holds the record marks its lane too, so this waits and then sees the hold.
  await mark(tx, `sync:${ref.provider}`, [ref.recordId], now);
  const overrides = (await readOverrides(tx, ref.provider, [ref.recordId], now)).get(ref.recordId);
  const isHeld = ({ property }: { property: string }) =>
    overrides !== undefined && overrideFor(overrides, property)?.kind === 'hold';
  if (parts.some(isHeld)) return 'held';
  for (const { property, kept } of parts)
    await setOverride(
      tx,
      { ...ref, property },
      {
        kind,
        once: kind === 'release',
        until: typeof winner === 'string' ? null : winner.crmUntil,
        reason: null,
        seen: kind === 'release' ? kept : undefined,
        origin: 'review',
        by,
      },
      now,
    );
  const properties = parts.map(({ property }) => property);
  await tx
    .updateTable('property_state')
    .set({ kept: null, offered: null, kept_at: null, kept_with: null })
    .where('provider', '=', ref.provider)
    .where('record_id', '=', ref.recordId)
    .where('property', 'in', each(tx, properties))
    .execute();
  return { properties };
}

/**
 * Ends the override that settled a difference at `at`, and marks the record; the sync finds the difference again. False
 * if a property was written or overridden since.
 */
export async function reopenDifference(
  tx: Tx,
  { provider, recordId }: RecordRef,
  { properties, at }: { readonly properties: readonly string[]; readonly at: number },
  now: number,
): Promise<boolean> {
  await mark(tx, `sync:${provider}`, [recordId], now);
  const settling = await tx
    .selectFrom('override')
    .select('property')
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .where('property', 'in', each(tx, properties))
    .where('created_at', '=', at)
    .where('origin', '=', 'review')
    .execute();
  if (settling.length < properties.length) return false;
  await tx
    .deleteFrom('override')
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .where('property', 'in', each(tx, properties))
    .execute();
  return true;
}
