import type { JsonObject } from '../../../../protocol/text/json.ts';

export const textOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The entries, each once, in the order of their JSON, so that a document does not depend on the order of rows. */
export const sorted = (entries: readonly JsonObject[]): readonly JsonObject[] =>
  entries.length < 2
    ? entries
    : entries
        .map((entry) => [JSON.stringify(entry), entry] as const)
        .sort(([a], [b]) => textOrder(a, b))
        .filter(([key], at, all) => key !== all[at - 1]?.[0])
        .map(([, entry]) => entry);
