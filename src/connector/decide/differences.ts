/** Differences: properties where the CRM holds another value than the register, left to a person. */
import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import { countRows } from '../../store/count.ts';
import { eachRow } from '../../store/each.ts';
import type { Db, Tx } from '../../store/open.ts';
import { ALL_PROPERTIES, type OverrideRef, overrideFor, readOverrides, setOverride } from './override.ts';

export interface Difference extends OverrideRef {
  readonly entity: string;
  /** JSON of what the CRM held when it was decided. */
  readonly crm: string;
  /** JSON of what the register says. */
  readonly register: string;
  /** Ms since 1970. */
  readonly since: number | null;
}

export interface DifferenceFilter {
  readonly provider?: string | undefined;
  readonly recordId?: string | undefined;
  readonly property?: string | undefined;
  readonly after?: OverrideRef | undefined;
}

const open = (db: Db, now: number, { provider, recordId, property }: DifferenceFilter) =>
  db
    .selectFrom('property_state as state')
    .where('state.kept', 'is not', null)
    // Not a join: SQLite would begin with the links, which are many.
    .where(({ exists }) => exists(activeLink(db)))
    // The next sync forgets it: a hold needs no word of a person any more.
    .where(({ exists, not }) => not(exists(holdOn(db, now))))
    .$if(provider !== undefined, (query) => query.where('state.provider', '=', provider ?? ''))
    .$if(recordId !== undefined, (query) => query.where('state.record_id', '=', recordId ?? ''))
    .$if(property !== undefined, (query) => query.where('state.property', '=', property ?? ''));

/** The company that the record of a property's state stands for. */
const activeLink = (db: Db) =>
  db
    .selectFrom('link')
    .select('link.entity')
    .where('link.provider', '=', sql.ref<string>('state.provider'))
    .where('link.record_id', '=', sql.ref<string>('state.record_id'))
    .where('link.state', '=', 'active');

/** A hold on a property, or on all of its record. */
const holdOn = (db: Db, now: number) =>
  db
    .selectFrom('override')
    .select('override.property')
    .where('override.provider', '=', sql.ref<string>('state.provider'))
    .where('override.record_id', '=', sql.ref<string>('state.record_id'))
    .where('override.property', 'in', [sql.ref<string>('state.property'), sql.lit(ALL_PROPERTIES)])
    .where('override.kind', '=', 'hold')
    .where((where) => where.or([where('override.until', 'is', null), where('override.until', '>', now)]));

/**
 * Differences that wait for a person, by connection, property and record; the next page comes `after` the last of this one.
 */
export async function readDifferences(
  db: Db,
  now: number,
  filter: DifferenceFilter,
  limit: number,
): Promise<readonly Difference[]> {
  const { after } = filter;
  const rows = await open(db, now, filter)
    .select(['state.provider', 'state.property', 'state.record_id', 'kept', 'offered', 'kept_at'])
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
  return rows.map(({ provider, property, record_id, entity, kept, offered, kept_at }) => ({
    provider,
    property,
    recordId: record_id,
    entity: entity ?? '',
    crm: kept ?? 'null',
    register: offered ?? 'null',
    since: kept_at,
  }));
}

/** How many differences there are, counted up to `most`. */
export const countDifferences = (
  db: Db,
  now: number,
  filter: DifferenceFilter = {},
  most = Number.MAX_SAFE_INTEGER,
): Promise<number> => countRows(db, open(db, now, filter).select('state.record_id').limit(most));

/**
 * Forgets what waits for a person in properties that are not decided any more: unmapped, or of another company. Differences
 * and refused values.
 */
export async function forgetUndecided(
  tx: Tx,
  provider: string,
  rows: readonly { readonly id: string; readonly property: string }[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`update property_state set kept = null, offered = null, kept_at = null,
      refused = null, refused_reason = null, refused_schema = null, refused_over = null
    where provider = ${provider} and (record_id, property) in
      (select each.id, each.property from ${eachRow(tx, ['id', 'property'], rows)})`.execute(tx);
}

/** What came of settling a difference: `none` is there, or it is `held`, and nothing is to be settled. */
type Settled = 'settled' | 'none' | 'held';

/**
 * Settles a difference: `register` lets the register win once, over the value that is known to stand in the CRM and over no
 * other; `crm` holds what the CRM has. Not one that a hold came upon: a word on the property alone would stand above a hold
 * on the record.
 */
export async function settleDifference(
  tx: Tx,
  ref: OverrideRef,
  winner: 'register' | 'crm',
  now: number,
): Promise<Settled> {
  const kind = winner === 'register' ? 'release' : 'hold';
  const difference = await tx
    .selectFrom('property_state')
    .select('kept')
    .where('provider', '=', ref.provider)
    .where('record_id', '=', ref.recordId)
    .where('property', '=', ref.property)
    .where('kept', 'is not', null)
    .executeTakeFirst();
  if (difference === undefined) return 'none';
  // Whoever puts a hold on the record marks its lane, too: we wait for them, and then see the hold.
  await mark(tx, `sync:${ref.provider}`, [ref.recordId], now);
  const overrides = (await readOverrides(tx, ref.provider, [ref.recordId], now)).get(ref.recordId);
  if (overrides !== undefined && overrideFor(overrides, ref.property)?.kind === 'hold') return 'held';
  await setOverride(
    tx,
    ref,
    {
      kind,
      once: kind === 'release',
      until: null,
      reason: 'a difference that a person settled',
      ...(kind === 'release' && { seen: difference.kept }),
    },
    now,
  );
  await tx
    .updateTable('property_state')
    .set({ kept: null, offered: null, kept_at: null })
    .where('provider', '=', ref.provider)
    .where('record_id', '=', ref.recordId)
    .where('property', '=', ref.property)
    .execute();
  return 'settled';
}
