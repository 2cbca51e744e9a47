/** Differences: properties whose CRM value differs from the register's, left to a person. */
import { sql } from 'kysely';
import type { PropertyValue } from '../../../providers/provider.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { countRows } from '../../store/count.ts';
import { each, eachRow } from '../../store/each.ts';
import type { PropertyStateTable } from '../../store/schema.ts';
import type { Db, Tx } from '../../store/store.ts';
import { isBlank } from '../decide/decide.ts';
import type { RecordRef } from '../names/queues.ts';
import {
  ALL_PROPERTIES,
  type OverrideRef,
  overrideFor,
  type Placement,
  readOverrides,
  setOverride,
} from '../overrides/override.ts';

export interface Difference extends OverrideRef {
  readonly entity: string;
  readonly crm: string;
  readonly register: string;
  readonly since: number | null;
  readonly editor: { readonly name: string; readonly at: number } | undefined;
}

export interface DifferenceFilter {
  readonly provider?: string | undefined;
  readonly recordId?: string | undefined;
  readonly property?: string | undefined;
  readonly after?: OverrideRef | undefined;
}

const selectDifferences = (db: Db, now: number, { provider, recordId, property }: DifferenceFilter) =>
  db
    .selectFrom('property_state as state')
    .where('state.kept', 'is not', null)
    .where('state.kept_with', 'is', null)
    // Not a join: SQLite would start with the many links.
    .where(({ exists }) => exists(activeLink(db)))
    // The next sync ends it: a held property needs no decision.
    .where(({ exists, not }) => not(exists(holdOn(db, now))))
    .$if(provider !== undefined, (query) => query.where('state.provider', '=', provider ?? ''))
    .$if(recordId !== undefined, (query) => query.where('state.record_id', '=', recordId ?? ''))
    .$if(property !== undefined, (query) =>
      query.where(({ or, eb, exists }) =>
        or([eb('state.property', '=', property ?? ''), exists(keptPart(db, property))]),
      ),
    );

const keptPart = (db: Db, property = '') =>
  db
    .selectFrom('property_state as part')
    .select('part.property')
    .where('part.provider', '=', sql.ref<string>('state.provider'))
    .where('part.record_id', '=', sql.ref<string>('state.record_id'))
    .where('part.kept_with', '=', sql.ref<string>('state.property'))
    .where('part.property', '=', property)
    .where('part.kept', 'is not', null);

const activeLink = (db: Db) =>
  db
    .selectFrom('link')
    .select('link.entity')
    .where('link.provider', '=', sql.ref<string>('state.provider'))
    .where('link.record_id', '=', sql.ref<string>('state.record_id'))
    .where('link.state', '=', 'active');

const holdOn = (db: Db, now: number) =>
  db
    .selectFrom('override')
    .select('override.property')
    .where('override.provider', '=', sql.ref<string>('state.provider'))
    .where('override.record_id', '=', sql.ref<string>('state.record_id'))
    .where('override.property', 'in', [sql.ref<string>('state.property'), sql.lit(ALL_PROPERTIES)])
    .where('override.kind', '=', 'hold')
    .where((where) => where.or([where('override.until', 'is', null), where('override.until', '>', now)]));

/** Sorted by connection, property and record; the next page starts `after` the last of this one. */
export async function readDifferences(
  db: Db,
  now: number,
  filter: DifferenceFilter,
  limit: number,
): Promise<readonly Difference[]> {
  const { after } = filter;
  const rows = await selectDifferences(db, now, filter)
    .select(['state.provider', 'state.property', 'state.record_id', 'kept', 'offered', 'kept_at', 'kept_by'])
    .select(() => activeLink(db).as('entity'))
    .$if(after !== undefined, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(
          refTuple('state.provider', 'state.property', 'state.record_id'),
          '>',
          tuple(after?.provider ?? '', after?.property ?? '', after?.recordId ?? ''),
        ),
      ),
    )
    .orderBy('state.provider')
    .orderBy('state.property')
    .orderBy('state.record_id')
    .limit(limit)
    .execute();
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

export const countDifferences = (
  db: Db,
  now: number,
  filter: DifferenceFilter = {},
  most = Number.MAX_SAFE_INTEGER,
): Promise<number> => countRows(db, selectDifferences(db, now, filter).select('state.record_id').limit(most));

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
