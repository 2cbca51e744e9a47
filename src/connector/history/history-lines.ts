/**
 * History as it is stored: one row for what one event did to a record at one time by one rule, with a line for each property.
 * A first sync decides some thirty properties of a record by one rule: in rows of their own they were most of the store.
 */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { PropertyValue } from '../../../providers/provider.ts';
import { elements } from '../../store/each.ts';
import type { HistoryTable } from '../../store/schema.ts';
import type { Db } from '../../store/store.ts';

/**
 * One property of a row. `detail`: why the CRM did not take the value, or what else there is to say. `stored`: what the CRM
 * made of the value, where that is another one.
 */
export type StoredLine = readonly [
  property: string,
  field: string,
  old: PropertyValue,
  now: PropertyValue,
  detail: string | null,
  stored?: PropertyValue,
];

type Row = Selectable<HistoryTable>;

/** What was decided for one property of a record. */
export interface DecidedLine extends Omit<Row, 'lines' | 'detail'> {
  readonly property: string;
  readonly field: string;
  readonly old: PropertyValue;
  readonly now: PropertyValue;
  readonly detail: string | null;
  /** What the CRM made of the value, where that is another one; `detail` says it too. */
  readonly stored?: PropertyValue;
}

/** A line about the record as a whole has no property and no values. */
export type HistoryLine = DecidedLine | (Omit<Row, 'lines'> & Record<'property' | 'field' | 'old' | 'now', null>);

/** What a row decided, in its order; none if it is about the record as a whole. */
export function decidedLines({ lines, detail: _, ...row }: Row): readonly DecidedLine[] {
  const stored: readonly StoredLine[] = lines === null ? [] : JSON.parse(lines);
  return stored.map(([property, field, old, now, detail, held]) => ({
    ...{ ...row, property, field, old, now },
    ...(held === undefined ? { detail } : { detail: withStored(detail, held), stored: held }),
  }));
}

const withStored = (detail: string | null, held: PropertyValue): string =>
  `${detail === null ? '' : `${detail}; `}the CRM holds another value: ${JSON.stringify(held)}`;

/** All lines of a row, for people. */
export function linesOf(row: Row): readonly HistoryLine[] {
  const { lines, ...whole } = row;
  return lines === null ? [{ ...whole, property: null, field: null, old: null, now: null }] : decidedLines(row);
}

/** The columns of a line, for {@link hasLine}. */
export const LINE = { property: sql<string>`(line.value ->> 0)`, field: sql<string>`(line.value ->> 1)` };

/** Whether a row of `history` has a line that the condition holds for. */
export const hasLine = (db: Db, condition: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`exists (select 1 from ${elements(db, 'lines')} as line where ${condition})`;
