/** JSON in the columns of the store. */

/** A stored text as JSON; undefined where it is none. */
export function readJson(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
