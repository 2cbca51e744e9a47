import { ProviderError, type Search } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import type { VisibleFields } from './changes.ts';
import { idOf, valuesOf } from './read.ts';
import { holdersQuery, quote } from './soql.ts';

const MOST = 10;

/**
 * Finds accounts by the value of one field, in one call. SOQL reads committed data, so the answer is sure, except for
 * records that sharing hides from the user.
 */
export async function findAccounts(
  calls: Calls,
  property: string,
  value: string,
  { names: visible, schema }: VisibleFields,
): Promise<Search> {
  if (!visible.includes(property)) {
    throw new ProviderError(
      'refused',
      `Account has no field ${property}, or hides it from the user of this connection`,
    );
  }
  const literal = literalOf(value, schema.get(property));
  if (literal === undefined) return { records: [], sure: true };
  const { rows } = await calls.query(holdersQuery(visible, property, literal, MOST));
  const records = rows.map((row) => ({ id: idOf(row), properties: valuesOf(row, visible, schema) }));
  return { records, sure: true };
}

/** The value as a SOQL literal for a field of that type; undefined if no such field can hold it. */
function literalOf(value: string, type: string | undefined): string | undefined {
  switch (type) {
    case 'int':
    case 'double':
    case 'currency':
    case 'percent':
      return /^-?\d{1,18}(?:\.\d+)?$/.test(value) ? value : undefined;
    case 'boolean':
      return value === 'true' || value === 'false' ? value : undefined;
    case 'date':
      return /^\d{4}-\d\d-\d\d$/.test(value) ? value : undefined;
    case 'datetime':
      return Number.isNaN(Date.parse(value)) ? undefined : new Date(value).toISOString();
    default:
      return quote(value);
  }
}
