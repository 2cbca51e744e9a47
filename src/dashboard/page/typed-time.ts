/** Times that people type into a form, in the time zone of the page. */
import type { VNode } from 'preact';
import { clockIn } from '../../protocol/text/zone-clock.ts';
import { type FilterField, textFilter } from './parts.ts';
import type { Reader } from './reader.ts';

/** Undefined for an empty text. */
export function readTime(text: string, timeZone: string): number | 'unreadable' | undefined {
  if (text === '') return undefined;
  const isLocal = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?$/.test(text);
  const ms = Date.parse(isLocal ? `${text.length === 10 ? `${text}T00:00` : text.replace(' ', 'T')}Z` : text);
  if (Number.isNaN(ms)) return 'unreadable';
  return isLocal ? clockIn(timeZone).instantOfClock(ms - (ms % 1_000)) + (ms % 1_000) : ms;
}

/** A time for the browser's field, with seconds only if they are not zero. */
export const typedTime = (ms: number, timeZone: string): string =>
  new Date(clockIn(timeZone).clockAt(ms) + (ms % 1_000)).toISOString().replace(/(?::00)?(?:\.000)?Z$/, '');

/** A field that filters a list by a time; its label names the time zone. */
export function timeFilter({ timeZone }: Reader, field: FilterField): VNode {
  const time = readTime(field.value, timeZone);
  const value = typeof time === 'number' ? typedTime(time, timeZone) : field.value;
  return textFilter({ ...field, label: `${field.label} (${timeZone})`, value }, 'datetime-local');
}
