/** Times that people type into a form. */
import type { VNode } from 'preact';
import { clockAt, instantOfClock } from '../../protocol/danish/clock.ts';
import { type FilterField, textFilter } from './parts.ts';

/** Undefined for an empty text. A time without a zone is Danish. */
export function readTime(text: string): number | 'unreadable' | undefined {
  if (text === '') return undefined;
  const isLocal = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?$/.test(text);
  const ms = Date.parse(isLocal ? `${text.length === 10 ? `${text}T00:00` : text.replace(' ', 'T')}Z` : text);
  if (Number.isNaN(ms)) return 'unreadable';
  return isLocal ? instantOfClock(ms - (ms % 1_000)) + (ms % 1_000) : ms;
}

/** A time for the browser's field, with seconds only if they are not zero. */
export const typedTime = (ms: number): string =>
  new Date(clockAt(ms) + (ms % 1_000)).toISOString().replace(/(?::00)?(?:\.000)?Z$/, '');

/** A field that filters a list by a time; its label names the time zone. */
export function timeFilter(field: FilterField): VNode {
  const time = readTime(field.value);
  return textFilter(typeof time === 'number' ? { ...field, value: typedTime(time) } : field, 'datetime-local');
}
