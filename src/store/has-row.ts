/**
 * Conditions on the row of a subquery, which has one column that is never null, and at most one row. Engines look it up
 * row by row. PostgreSQL makes a join of `exists` and of `not exists`, often estimates one row for its result, and then
 * reads or compares whole tables for a query that needs a thousand rows.
 */
import { type Expression, sql } from 'kysely';

export const hasRow = (row: Expression<unknown>) => sql<boolean>`${row} is not null`;

export const hasNoRow = (row: Expression<unknown>) => sql<boolean>`${row} is null`;
