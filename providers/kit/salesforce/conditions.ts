/** The conditions and the order of a query, over any kind of row. */
import type { PropertyValue } from '../../provider.ts';
import { toLongId } from '../../salesforce/client/ids.ts';
import type { SoqlCondition, SoqlOrder } from './soql.ts';

/** The raw value of one field of a row. */
export type FieldsOf<R> = (row: R, field: string) => PropertyValue;

export function holds<R>(row: R, { field, operator, values }: SoqlCondition, fieldOf: FieldsOf<R>): boolean {
  const raw = fieldOf(row, field);
  const wanted = values.map((value) => (field.endsWith('Id') && isId(value) ? toLongId(value) : value));
  const [right = null] = wanted;
  switch (operator) {
    case 'IN':
      return wanted.some((value) => same(raw, value));
    case '=':
      return same(raw, right);
    case '!=':
      return !same(raw, right);
    default:
      return compare(raw, right, operator);
  }
}

/** The rows in the requested order; blanks first. */
export function ordered<R>(rows: readonly R[], order: readonly SoqlOrder[], fieldOf: FieldsOf<R>): readonly R[] {
  const keyed = rows.map((row) => ({ row, keys: order.map(({ field }) => sortable(fieldOf(row, field) ?? '')) }));
  keyed.sort((a, b) => {
    for (const [at, { descending }] of order.entries()) {
      const [left = '', right = ''] = [a.keys[at], b.keys[at]];
      if (left !== right) return left < right === descending ? 1 : -1;
    }
    return 0;
  });
  return keyed.map(({ row }) => row);
}

const isId = (value: PropertyValue): value is string =>
  typeof value === 'string' && /^[0-9A-Za-z]{15}(?:[0-9A-Za-z]{3})?$/.test(value);

/** SOQL compares texts without regard to case, and a checkbox has no blank. */
function same(a: PropertyValue, b: PropertyValue): boolean {
  if (typeof a !== 'string' || typeof b !== 'string') return (a ?? false) === (b ?? false);
  return sortable(a).toString().toLowerCase() === sortable(b).toString().toLowerCase();
}

function compare(a: PropertyValue, b: PropertyValue, operator: '>' | '<' | '>=' | '<='): boolean {
  if (a === null || b === null) return false;
  const [left, right] = [sortable(a), sortable(b)];
  if (operator === '>') return left > right;
  if (operator === '<') return left < right;
  return operator === '>=' ? left >= right : left <= right;
}

function sortable(value: string | number | boolean): string | number {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number' || !/^\d{4}-\d\d-\d\dT/.test(value)) return value;
  return new Date(value.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')).toISOString();
}
