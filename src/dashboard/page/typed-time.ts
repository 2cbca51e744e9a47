/** Times that people type into a form. */
import { instantOfClock } from '../../protocol/danish/clock.ts';

/** A time in ms since 1970, undefined for no text. A time without a zone is Danish. */
export function readTime(text: string): number | 'unreadable' | undefined {
  if (text === '') return undefined;
  const isLocal = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?$/.test(text);
  const ms = Date.parse(isLocal ? `${text.length === 10 ? `${text}T00:00` : text.replace(' ', 'T')}Z` : text);
  if (Number.isNaN(ms)) return 'unreadable';
  return isLocal ? instantOfClock(ms - (ms % 1_000)) + (ms % 1_000) : ms;
}
