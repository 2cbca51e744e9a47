import { type Expression, sql } from 'kysely';

/**
 * A condition that a subquery has no row. The subquery has one column, which is never null, and at most one row. Engines
 * look it up row by row: PostgreSQL makes a join of `not exists`, often estimates one row for its result, and then reads
 * or compares whole tables for a query that needs a thousand rows.
 */
export const hasNo = (row: Expression<unknown>) => sql<boolean>`${row} is null`;
