/** Stores decisions and outcomes: history for people, written values and property states for the next decision. */
import { sql } from 'kysely';
import type { Property, PropertyValue } from '../../../providers/provider.ts';
import { each as eachOf, eachRow, storable, storableJson } from '../../store/each.ts';
import { type InsertTarget, insertRows } from '../../store/insert-rows.ts';
import type { Db, Tx } from '../../store/store.ts';
import type { PropertyMemory } from '../decide/memory.ts';
import { fingerprint } from '../decide/plan.ts';
import { type Planned, RETURNED } from '../decide/planned.ts';
import type { StoredLine } from './history-lines.ts';
import type { WrittenProperty } from './written.ts';

export interface Decided {
  readonly provider: string;
  readonly id: string;
  readonly entity: string;
  readonly planned: Planned;
  readonly refused?: string;
  readonly stored?: PropertyValue | undefined;
  /** Whether the write carried the property's value (`Planned.carried`). */
  readonly isCarried?: true;
}

/** A line of history about the whole record: a hold, a merge, a deletion. */
export interface Happened {
  readonly provider: string;
  readonly id: string;
  readonly entity: string;
  readonly rule:
    | 'hold'
    | 'gone'
    | 'moved'
    | 'refused'
    | 'linked'
    | 'unlinked'
    | 'mismatch'
    | 'note'
    | 'parent'
    | 'forgotten';
  readonly detail: string;
}

/** The outcome of a value that was sent unchanged with others of its group. */
export const CARRIED = 'carried';

const outcomeOf = ({ planned, refused, isCarried }: Decided): string => {
  if (refused !== undefined || planned.action === 'set-aside') return 'refused';
  return isCarried === true ? CARRIED : OUTCOMES[planned.action];
};

const OUTCOMES = { write: 'written', skip: 'skipped', keep: 'kept' } as const;

const ROW: InsertTarget = {
  table: 'history',
  columns: ['at', 'provider', 'record_id', 'entity', 'seq', 'rule', 'outcome', 'lines', 'detail'],
};

/** Keeps the order. Decisions about a record with the same rule, event and outcome share one row. */
export async function writeHistory(
  tx: Tx,
  decided: readonly Decided[],
  happened: readonly Happened[],
  at: number,
): Promise<void> {
  const alike = Map.groupBy(decided, rowNames());
  const rows = [
    ...happened.map(({ provider, id, entity, rule, detail }) => [
      ...[at, provider, id, entity, 0, rule, rule],
      ...[null, storable(detail)],
    ]),
    ...[...alike.values()].flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const { provider, id, entity, planned } = first;
      const lines = storableJson(group.map(lineOf));
      return [[at, provider, id, entity, planned.seq, planned.rule, outcomeOf(first), lines, null]];
    }),
  ];
  await insertRows(tx, ROW, rows);
}

/** Names the row of a decision. Consecutive decisions mostly share a row, so the name is built once for them. */
function rowNames(): (each: Decided) => string {
  let last: Decided | undefined;
  let name = '';
  return (each) => {
    const { provider, id, entity, planned } = each;
    if (last === undefined || !isSameRow(last, each))
      name = `${provider} ${id} ${entity} ${planned.seq} ${planned.rule} ${outcomeOf(each)}`;
    last = each;
    return name;
  };
}

const isSameRow = (a: Decided, b: Decided): boolean =>
  a.id === b.id &&
  a.provider === b.provider &&
  a.entity === b.entity &&
  a.planned.seq === b.planned.seq &&
  a.planned.rule === b.planned.rule &&
  outcomeOf(a) === outcomeOf(b);

function lineOf({ planned, refused, stored, isCarried }: Decided): StoredLine {
  const { property, field, old, detail, carried } = planned;
  const now = isCarried === true && carried !== undefined ? carried : planned.now;
  const line = [property, field, old, now, refused ?? detail ?? null] as const;
  return stored === undefined ? line : [...line, stored];
}

/** Records whose last line is a hold: history shows a hold once. */
export async function heldRecords(db: Db, provider: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom('history')
    .select(['record_id', 'rule'])
    .where('id', 'in', (last) =>
      last
        .selectFrom('history')
        .select((row) => row.fn.max('id').as('id'))
        .where('provider', '=', provider)
        .where('record_id', 'in', eachOf(db, ids))
        .groupBy('record_id'),
    )
    .execute();
  return new Set(rows.flatMap(({ record_id, rule }) => (rule === 'hold' ? [record_id] : [])));
}

const STATE = [
  ...(['provider', 'id', 'property', 'refused', 'reason', 'schema', 'until'] as const),
  ...(['over', 'kept', 'offered', 'with', 'trusted'] as const),
] as const;
type State = Readonly<Record<(typeof STATE)[number], string | number | null>>;

function refusalOf({ planned, refused }: Decided, property: Property | undefined): Partial<State> {
  return {
    refused: JSON.stringify(planned.now),
    reason: refused ?? planned.detail ?? planned.rule,
    over: property === undefined ? null : JSON.stringify(planned.old),
    // A value that the schema excludes is decided each time: that takes no call.
    schema: property === undefined || planned.retryAt === undefined ? null : fingerprint(property),
    until: planned.retryAt ?? null,
  };
}

/** Our own written values; a restored edit stays a person's. */
export const writtenBy = (decided: readonly Decided[], at: number): readonly WrittenProperty[] =>
  decided
    .filter((each) => SENT.has(outcomeOf(each)) && each.planned.rule !== RETURNED)
    .map(({ id, planned: { property, now, carried: value = now }, stored }) => ({
      ...{ id, property, value, at },
      stored,
    }));

const SENT: ReadonlySet<string> = new Set(['written', CARRIED]);

/** Whether a decision changes the property's state, apart from its written value. */
export function changesState({ planned, refused }: Decided, known: PropertyMemory | undefined): boolean {
  if (planned.action === 'set-aside' || refused !== undefined || planned.trusts === true) return true;
  if (planned.rule === RETURNED || known?.refused !== undefined) return true;
  if (planned.action !== 'keep') return known?.kept !== undefined;
  const { kept } = known ?? {};
  const isSame = kept?.crm === JSON.stringify(planned.old) && kept.now === JSON.stringify(planned.now);
  return !isSame || (kept.with ?? null) !== representative(planned);
}

/** The other property that represents the difference; null if none. */
const representative = ({ keptWith, property }: Planned): string | null =>
  keptWith === undefined || keptWith === property ? null : keptWith;

/** Stores refused, different and trusted values; any other decision clears the state. */
export async function rememberStates(
  tx: Tx,
  decided: readonly Decided[],
  schema: ReadonlyMap<string, Property>,
  at: number,
): Promise<void> {
  const rows = decided.map((each): State => {
    const { provider, id, planned } = each;
    const base = {
      ...{ provider, id, property: planned.property },
      ...{ kept: null, offered: null, with: null, refused: null, reason: null, over: null, schema: null, until: null },
      trusted: planned.trusts === true ? at : null,
    };
    switch (outcomeOf(each)) {
      case 'written':
        // A restored edit is still a person's value, and stays a difference.
        return planned.rule !== RETURNED || planned.offered === undefined
          ? base
          : {
              ...{ ...base, kept: JSON.stringify(planned.now), offered: JSON.stringify(planned.offered) },
              with: representative(planned),
            };
      case 'kept':
        return {
          ...{ ...base, kept: JSON.stringify(planned.old), offered: JSON.stringify(planned.now) },
          with: representative(planned),
        };
      case 'refused':
        return { ...base, ...refusalOf(each, schema.get(planned.property)), trusted: null };
      default:
        return base;
    }
  });
  if (rows.length === 0) return;
  await sql`insert into property_state
      (provider, record_id, property, refused, refused_reason, refused_schema, refused_until, refused_over, kept, offered,
        kept_with, kept_at, trusted_at)
    select each.provider, each.id, each.property, each.refused, each.reason, each.schema, cast(each."until" as bigint),
      each.over, each.kept, each.offered, each."with",
      case when each.kept is not null then cast(${at} as bigint) end, cast(each.trusted as bigint)
    from ${eachRow(tx, STATE, rows)} where true
    on conflict (provider, record_id, property) do update set
      refused = excluded.refused, refused_reason = excluded.refused_reason, refused_schema = excluded.refused_schema,
      refused_until = excluded.refused_until, refused_over = excluded.refused_over,
      kept = excluded.kept, offered = excluded.offered, kept_with = excluded.kept_with,
      kept_at = case when property_state.kept is not null and excluded.kept is not null then property_state.kept_at
        else excluded.kept_at end,
      kept_by = case when property_state.kept = excluded.kept then property_state.kept_by end,
      trusted_at = coalesce(property_state.trusted_at, excluded.trusted_at)`.execute(tx);
}

export async function rememberSynced(
  tx: Tx,
  provider: string,
  synced: readonly { readonly id: string; readonly seq: number }[],
  at: number,
): Promise<void> {
  if (synced.length === 0) return;
  // Materialised: otherwise SQLite reads every link of the provider and parses all rows for each.
  await sql`with synced (id, seq) as materialized
      (select each.id, cast(each.seq as bigint) from ${eachRow(tx, ['id', 'seq'], synced)})
    update link set synced_seq = synced.seq, synced_at = ${at}
    from synced where link.provider = ${provider} and link.record_id = synced.id`.execute(tx);
}
