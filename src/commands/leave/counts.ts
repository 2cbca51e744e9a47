/** The results of leaving a CRM, in words. */
import { countOf } from '../cli/count-of.ts';

/** The meaning of each result. Other results of an undo keep their names. */
const WORDS: Readonly<Record<string, (count: number) => string>> = {
  link: (count) => `${countOf(count, 'link')} would end, with the monitoring of the companies for them`,
  ended: (count) => `${countOf(count, 'link')} ended, with the monitoring of the companies for them`,
  unconfirmed: (count) => `${countOf(count, 'link')} ended, but the monitoring service has not confirmed it`,
  restored: (count) => `${countOf(count, 'value')} to what it was before cvrsync wrote`,
  edited: (count) => `${countOf(count, 'value')} that people edited since: not touched`,
  nothing: (count) => `${countOf(count, 'value')} with nothing to restore`,
  undone: (count) => `${countOf(count, 'value')} restored before`,
  property: (count) => `${countOf(count, 'property', 'properties')} that cvrsync created would be removed`,
  removed: (count) => `${countOf(count, 'property', 'properties')} removed`,
  absent: (count) => `${countOf(count, 'property', 'properties')} not there any more`,
  'in-use': (count) => `${countOf(count, 'property', 'properties')} with values of others: not removed`,
  'by-hand': (count) => `${countOf(count, 'property', 'properties')} to be removed by hand`,
};

export const countLines = (counts: ReadonlyMap<string, number>): readonly string[] =>
  [...counts].map(([kind, count]) => `  ${WORDS[kind]?.(count) ?? `${count} ${kind}`}`);
