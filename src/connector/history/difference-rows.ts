/**
 * Which rows are differences that wait. Each query goes along one index and reads hardly more rows than it returns: one
 * condition over the property of a difference and over its parts would read all differences.
 */
import { type RawBuilder, sql } from 'kysely';
import { hasNoRow, hasRow } from '../../store/has-row.ts';
import type { Db } from '../../store/store.ts';
import { ALL_PROPERTIES, type OverrideRef } from '../overrides/override.ts';

export interface DifferenceFilter {
  readonly provider?: string | undefined;
  readonly recordId?: string | undefined;
  /** That shows the difference, or is a part of it. */
  readonly property?: string | undefined;
  readonly after?: OverrideRef | undefined;
}

/** A value, or a column of a surrounding query. */
type Operand = string | RawBuilder<string>;

/** Differences that are next to each other in an index; with `part` those that this property is a part of. */
export interface DifferenceRange extends Pick<DifferenceFilter, 'after'> {
  readonly provider?: Operand | undefined;
  readonly recordId?: string | undefined;
  readonly property?: Operand | undefined;
  readonly part?: Operand | undefined;
}

/** SQL from `from` on of a range; its differences are `state`. */
export const fromRange = (range: DifferenceRange, now: number): RawBuilder<unknown> =>
  range.part === undefined
    ? sql`from property_state as state where ${isWaiting(now)} ${isWithin(range, 'state', 'property')}`
    : // SQLite keeps the order of a cross join.
      sql`from property_state as part cross join property_state as state
        where part.property = ${range.part} and part.kept is not null and part.kept_with is not null
          and state.provider = part.provider and state.record_id = part.record_id and state.property = part.kept_with
          and ${isWaiting(now)} ${isWithin(range, 'part', 'kept_with')}`;

/** The differences of a range as rows to count, with the time since when each waits as `since`. */
export const differencesIn = (range: DifferenceRange, now: number): RawBuilder<unknown> =>
  sql`(select state.kept_at as since ${fromRange(range, now)})`;

/** The order of a range, in SQL. */
export const orderOfRange = ({ part }: DifferenceRange): RawBuilder<unknown> =>
  part === undefined
    ? sql`state.provider, state.property, state.record_id`
    : sql`part.provider, part.kept_with, part.record_id`;

function isWithin(
  { provider, recordId, property, after }: DifferenceRange,
  table: 'state' | 'part',
  shows: 'property' | 'kept_with',
): RawBuilder<unknown> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  const behind = [column('provider'), column(shows), column('record_id')];
  return sql.join(
    [
      provider !== undefined && sql`and ${column('provider')} = ${provider}`,
      property !== undefined && sql`and ${column(shows)} = ${property}`,
      recordId !== undefined && sql`and ${column('record_id')} = ${recordId}`,
      after !== undefined && sql`and (${sql.join(behind)}) > (${after.provider}, ${after.property}, ${after.recordId})`,
    ].filter((condition) => condition !== false),
    sql` `,
  );
}

/** The record is linked and nobody holds the property: the next sync ends a held difference, which needs no decision. */
const isWaiting = (now: number): RawBuilder<unknown> =>
  // Not joins: SQLite would start with the many links.
  sql`state.kept is not null and state.kept_with is null and ${hasRow(ACTIVE_LINK)}
    and ${hasNoRow(sql`(select 1 from override where provider = state.provider and record_id = state.record_id
      and property in (state.property, ${sql.lit(ALL_PROPERTIES)}) and kind = 'hold' and (until is null or until > ${now}) limit 1)`)}`;

/** The company of the record of `state`. */
export const ACTIVE_LINK = sql<string>`(select entity from link
  where provider = state.provider and record_id = state.record_id and link.state = 'active')`;

/** The ranges of a filter in the order of their differences: by connection, property and record. */
export async function rangesOf(db: Db, filter: DifferenceFilter): Promise<readonly DifferenceRange[]> {
  const { provider, recordId, property, after } = filter;
  if (property === undefined) return [filter];
  if (recordId !== undefined) return ofProperty(filter);
  const ranges: DifferenceRange[] = [];
  for (const connection of provider === undefined ? await connectionsWithDifferences(db) : [provider]) {
    const parts = (await shownBy(db, connection, property)).map((shows) => ({ property: shows, part: property }));
    const own = [{ property }, ...parts].toSorted((a, b) => (a.property < b.property ? -1 : 1));
    ranges.push(...own.flatMap((each) => begunAfter({ provider: connection, ...each }, after)));
  }
  return ranges;
}

/** A range from a difference on; none if it ends before. */
function begunAfter(
  range: { readonly provider: string; readonly property: string; readonly part?: string },
  after: OverrideRef | undefined,
): readonly DifferenceRange[] {
  if (after === undefined || range.provider > after.provider) return [range];
  if (range.provider < after.provider || range.property < after.property) return [];
  return [range.property === after.property ? { ...range, after } : range];
}

/** The differences that a property shows, and those that it is a part of, in no order. */
export const ofProperty = <R extends DifferenceRange>({ property, ...range }: R): readonly DifferenceRange[] => [
  { ...range, property },
  { ...range, part: property },
];

/** The connections that have differences. */
export const connectionsWithDifferences = (db: Db): Promise<readonly string[]> =>
  valuesOf(db, 'provider', sql`kept is not null and kept_with is null`);

/** The properties that show differences of which a property is a part. */
const shownBy = (db: Db, provider: string, part: string): Promise<readonly string[]> =>
  valuesOf(
    db,
    'kept_with',
    sql`property = ${part} and provider = ${provider} and kept is not null and kept_with is not null`,
  );

/** All values of a column, each found from the one before along an index. */
async function valuesOf(
  db: Db,
  column: 'provider' | 'kept_with',
  where: RawBuilder<unknown>,
): Promise<readonly string[]> {
  const name = sql.ref(column);
  const { rows } = await sql<{ readonly value: string }>`with recursive step (value) as (
      select (select ${name} from property_state where ${where} order by ${name} limit 1)
      union all
      select (select ${name} from property_state where ${where} and ${name} > step.value order by ${name} limit 1)
        from step where step.value is not null
    ) select value from step where value is not null`.execute(db);
  return rows.map(({ value }) => value);
}
