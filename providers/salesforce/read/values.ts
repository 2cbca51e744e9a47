/** Converts between Salesforce's JSON values and the values of the contract. */
import type { PropertyValue } from '../../provider.ts';

/**
 * The value to send. Salesforce stores `""` as null and trims edges, so it does both: cvrsync then reads back what it
 * sent. A checkbox has no blank, so null unticks it.
 */
export function toSalesforce(value: PropertyValue, type: string | undefined): PropertyValue {
  if (value === null) return type === 'boolean' ? false : null;
  if (typeof value !== 'string') return value;
  const trimmed = value.trim();
  return trimmed === '' ? null : trimmed;
}

const NUMBERS: ReadonlySet<string> = new Set(['int', 'long', 'double', 'currency', 'percent']);

/** Whether a field of that type takes the value as JSON; otherwise Salesforce refuses the whole call. */
export function takes(type: string, value: PropertyValue): boolean {
  if (value === null) return true;
  if (NUMBERS.has(type)) return typeof value === 'number';
  if (type === 'boolean') return typeof value === 'boolean';
  if (typeof value !== 'string') return false;
  return type === 'date' || type === 'datetime' ? /^\d{4}-\d\d-\d\d/u.test(value) : true;
}

/** The value that Salesforce sent: times in UTC with a Z, line ends as `\n`, compound values as null. */
export function fromSalesforce(value: unknown, type: string | undefined): PropertyValue {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'string' || value === '') return null;
  if (type === 'datetime') return instant(value) ?? value;
  return value.replaceAll('\r\n', '\n');
}

/** `2026-08-01T10:00:00.000+0000` as ISO 8601 in UTC. */
function instant(text: string): string | undefined {
  const ms = Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
