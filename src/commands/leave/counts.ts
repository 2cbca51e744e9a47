/** What a run that leaves a CRM did, or would do, in words. */

export const thing = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** What each result means. Those of an undo that are not here keep their names. */
const WORDS: Readonly<Record<string, (count: number) => string>> = {
  link: (count) => `${thing(count, 'link')} would end, with the monitoring of the companies for them`,
  ended: (count) => `${thing(count, 'link')} ended, with the monitoring of the companies for them`,
  unconfirmed: (count) => `${thing(count, 'link')} ended, but the monitoring service has not confirmed it`,
  restored: (count) => `${thing(count, 'value')} to what it was before cvrsync wrote`,
  edited: (count) => `${thing(count, 'value')} that people edited since: not touched`,
  nothing: (count) => `${thing(count, 'value')} with nothing to restore`,
  undone: (count) => `${thing(count, 'value')} restored before`,
  property: (count) => `${thing(count, 'property', 'properties')} that cvrsync created would be removed`,
  removed: (count) => `${thing(count, 'property', 'properties')} removed`,
  absent: (count) => `${thing(count, 'property', 'properties')} not there any more`,
  'in-use': (count) => `${thing(count, 'property', 'properties')} with values of others: not removed`,
  'by-hand': (count) => `${thing(count, 'property', 'properties')} to be removed by hand`,
};

/** A line for each result. */
export const countLines = (counts: ReadonlyMap<string, number>): readonly string[] =>
  [...counts].map(([kind, count]) => `  ${WORDS[kind]?.(count) ?? `${count} ${kind}`}`);
