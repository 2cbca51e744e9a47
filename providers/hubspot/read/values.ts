/** Converts between the texts of HubSpot's properties and the values of the contract. */
import type { PropertyValue } from '../../provider.ts';

/**
 * The text to send: `""` clears, because HubSpot refuses null. Numbers have no exponent.
 * https://developers.hubspot.com/docs/api-reference/crm-properties-v3/guide
 */
export function toHubspot(value: PropertyValue): string {
  if (value === null) return '';
  if (typeof value === 'number') return plainNumber(value);
  return String(value);
}

/**
 * The value of a text, by HubSpot's property type. Blank is null; a text that does not fit its type stays a text, so
 * that nothing is lost.
 */
export function fromHubspot(text: string | null | undefined, type: string | undefined): PropertyValue {
  if (text === null || text === undefined || text === '') return null;
  if (type === 'number') return Number.isFinite(Number(text)) ? Number(text) : text;
  if (type === 'bool') return text === 'true' ? true : text === 'false' ? false : text;
  if (type === 'date') return instant(text)?.slice(0, 10) ?? text;
  if (type === 'datetime') return instant(text) ?? text;
  return text;
}

function plainNumber(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  return Math.abs(value) >= 1 ? BigInt(Math.round(value)).toString() : value.toFixed(20).replace(/^(.*?[^0])0*$/, '$1');
}

function instant(text: string): string | undefined {
  const ms = /^-?\d{5,}$/.test(text) ? Number(text) : Date.parse(text);
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : undefined;
}
