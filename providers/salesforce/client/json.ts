/** Reads parsed JSON of unknown shape. */

export const objectOf = (json: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof json === 'object' && json !== null && !Array.isArray(json) ? { ...json } : undefined;

export const textOf = (json: unknown): string | undefined =>
  typeof json === 'string' && json !== '' ? json : undefined;

/** The objects of a list; anything else is left out. */
export const objectsOf = (json: unknown): readonly Readonly<Record<string, unknown>>[] =>
  (Array.isArray(json) ? json : []).map(objectOf).filter((object) => object !== undefined);
