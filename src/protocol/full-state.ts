/** Recognises a payload that states the whole company, as the service sends it after `sendUpdate=true`. */
import { EVENT_NAMES, type EventName } from './events.ts';
import type { Payload } from './payload.ts';

const hasBefore = (data: object): boolean => 'before' in data && data.before !== null;

const isFilledList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const takesAway = (data: object): boolean =>
  ('removed' in data && isFilledList(data.removed)) || ('changed' in data && isFilledList(data.changed));

/**
 * Whether a payload states the whole company: then each list of members that it updates is complete. Events that it names
 * without updating them have no meaning. Production units are not such a list: their events name one unit at a time.
 *
 * The specification does not mark such payloads, and an ordinary one may name the same events and omit the state
 * before. So the rule is narrow, and in doubt the answer is no:
 * - it names every known event, except the e-mail event, whose configured name may be wrong;
 * - it updates `name`, `address` and at least one of `status` and `form`, each with a value after;
 * - it updates `lifetimeStarted`: a company begins once, so other changes do not include it;
 * - no updated entry has a state before, and none removes or changes a member of a list;
 * - nothing in it is malformed.
 */
export const statesWholeCompany = (payload: Payload): boolean => {
  const { updates } = payload;
  const isNamed = (name: EventName): boolean => name === 'email' || payload.stated.includes(name);
  if (payload.malformed.length > 0 || !EVENT_NAMES.every(isNamed)) return false;
  const hasCore =
    (updates.name?.after ?? null) !== null &&
    (updates.address?.after ?? null) !== null &&
    updates.lifetimeStarted !== undefined &&
    ((updates.status?.after ?? null) !== null || (updates.form?.after ?? null) !== null);
  return hasCore && Object.values(updates).every((data) => !hasBefore(data) && !takesAway(data));
};
