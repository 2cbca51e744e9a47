/**
 * Stored history: one row for one event, record, time and rule, with a line for each property. A first sync decides
 * some thirty properties of a record by one rule; as rows they were most of the store.
 */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { PropertyValue } from '../../../providers/provider.ts';
import { elements } from '../../store/each.ts';
import type { HistoryTable } from '../../store/schema.ts';
import type { Db } from '../../store/store.ts';

/**
 * One property of a row. `detail`: why the CRM refused the value, or another remark. `stored`: the value that the CRM
 * stored, if it differs.
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

export interface DecidedLine extends Omit<Row, 'lines' | 'detail'> {
  readonly property: string;
  readonly field: string;
  readonly old: PropertyValue;
  readonly now: PropertyValue;
  readonly detail: string | null;
  /** The value that the CRM stored, if it differs; `detail` states it too. */
  readonly stored?: PropertyValue;
}

/** A line about the record as a whole has no property or values. */
export type HistoryLine = DecidedLine | (Omit<Row, 'lines'> & Record<'property' | 'field' | 'old' | 'now', null>);

/** Empty for a row about the record as a whole. */
export function decidedLines({ lines, detail: _, ...row }: Row): readonly DecidedLine[] {
  const stored: readonly StoredLine[] = lines === null ? [] : JSON.parse(lines);
  return stored.map(([property, field, old, now, detail, crmValue]) => ({
    ...{ ...row, property, field, old, now },
    ...(crmValue === undefined ? { detail } : { detail: withStored(detail, crmValue), stored: crmValue }),
  }));
}

const withStored = (detail: string | null, crmValue: PropertyValue): string =>
  `${detail === null ? '' : `${detail}; `}the CRM holds another value: ${JSON.stringify(crmValue)}`;

export function linesOf(row: Row): readonly HistoryLine[] {
  const { lines, ...whole } = row;
  return lines === null ? [{ ...whole, property: null, field: null, old: null, now: null }] : decidedLines(row);
}

export const LINE = { property: sql<string>`(line.value ->> 0)`, field: sql<string>`(line.value ->> 1)` };

export const hasLine = (db: Db, condition: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`exists (select 1 from ${elements(db, 'lines')} as line where ${condition})`;
