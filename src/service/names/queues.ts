/** Queues of the service, and the keys of their lanes. */

/** The lanes of deliveries; key: the monitor's id. */
export const DELIVER_QUEUE = 'deliver';

/** The queue of full states that a caller asked for with `sendUpdate`; key: {@link stateKey}. */
export const STATE_QUEUE = 'state';

/** The queue of listed companies without a snapshot, to fetch from the register; key: the entity. */
export const ASK_QUEUE = 'ask';

/** The key of the lane that sends an entity's full state to one monitor. */
export const stateKey = (monitor: string, entity: string): string => `${monitor}:${entity}`;

/** Parses a key of {@link stateKey}: a monitor's id holds no colon. */
export function readStateKey(key: string): { readonly monitor: string; readonly entity: string } {
  const end = key.indexOf(':');
  return { monitor: key.slice(0, end), entity: key.slice(end + 1) };
}
