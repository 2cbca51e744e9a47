/** Key: the monitor's id. */
export const DELIVER_QUEUE = 'deliver';

/** Full states that a caller requested with `sendUpdate`; key: {@link stateKey}. */
export const STATE_QUEUE = 'state';

/** Listed companies without a snapshot, to fetch from the register; key: the entity. */
export const ASK_QUEUE = 'ask';

export const stateKey = (monitor: string, entity: string): string => `${monitor}:${entity}`;

/** Parses a key of {@link stateKey}: a monitor's id holds no colon. */
export function readStateKey(key: string): { readonly monitor: string; readonly entity: string } {
  const end = key.indexOf(':');
  return { monitor: key.slice(0, end), entity: key.slice(end + 1) };
}
