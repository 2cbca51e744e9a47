/** How many holds there are of each connection, property and origin: counted in the index, however many there are. */
import { sql } from 'kysely';
import type { Db } from '../../store/store.ts';
import { ALL_PROPERTIES, HOLD_ORIGINS, type HoldOrigin } from './override.ts';

/** The holds of one property in one connection by one origin. */
export interface HoldCount {
  readonly provider: string;
  readonly property: string;
  readonly origin: HoldOrigin;
  /** Both counted up to a limit. */
  readonly count: number;
  /** Those that end before a time. */
  readonly ending: number;
}

/**
 * Counts them in one statement that jumps from each property and connection to the next. Reads at most twice `most` rows of the
 * index for each count; without `isWhole` only those that end.
 */
export async function countHoldsByPart(
  db: Db,
  now: number,
  { endsBefore, most, isWhole }: { readonly endsBefore: number; readonly most: number; readonly isWhole: boolean },
): Promise<readonly HoldCount[]> {
  // The least key behind another one is one look into the index.
  const keys = (column: 'provider' | 'property') => sql`
    (select min(${sql.ref(column)}) as name from override where kind = 'hold'
    union all
    select (select min(${sql.ref(column)}) from override where kind = 'hold' and ${sql.ref(column)} > known.name)
      from ${sql.table(`${column}_key`)} as known where known.name is not null)`;
  const origins = sql.join(
    HOLD_ORIGINS.map((origin) => sql`select ${sql.lit(origin)} as name`),
    sql` union all `,
  );
  const own = sql`kind = 'hold' and property = property_key.name and provider = provider_key.name and origin = origin_key.name`;
  const count = (condition: ReturnType<typeof sql>) =>
    sql`(select cast(count(*) as bigint) from (select 1 as one from override where ${own} and ${condition} limit ${sql.lit(most)}) as found)`;
  const ending = sql`until > ${now} and until < ${endsBefore}`;
  const open = sql`(until is null or until > ${now})`;
  const { rows } = await sql<HoldCount>`with recursive
      property_key (name) as ${keys('property')},
      provider_key (name) as ${keys('provider')},
      origin_key (name) as (${origins})
    select provider_key.name as provider, property_key.name as property, origin_key.name as origin,
      ${isWhole ? count(open) : sql`0`} as "count", ${count(ending)} as ending
    from property_key, provider_key, origin_key
    where property_key.name is not null and provider_key.name is not null`.execute(db);
  return rows
    .filter((each) => each.count > 0 || each.ending > 0)
    .toSorted((a, b) => rank(a) - rank(b) || (a.property < b.property ? -1 : a.property > b.property ? 1 : 0));
}

/** What is about whole records comes first. */
const rank = ({ property }: HoldCount): number => (property === ALL_PROPERTIES ? 0 : 1);
