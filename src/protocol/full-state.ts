/**
 * Recognises a payload that states the whole company, as the service sends it after `sendUpdate=true`.
 */
import { EVENT_NAMES, type EventName } from './events.ts';
import type { Payload } from './payload.ts';

const hasBefore = (data: object): boolean => 'before' in data && data.before !== null;

const isFilledList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const takesAway = (data: object): boolean =>
  ('removed' in data && isFilledList(data.removed)) || ('changed' in data && isFilledList(data.changed));

/**
 * Tells whether a payload states how the whole company is: each list of members that it updates is then complete. Of
 * events that it names without updating them it says nothing, of lists as little as of values.
 * Production units are no such list: their events name one unit at a time.
 *
 * The specification does not mark such payloads, and an ordinary one may name the same events and leave out what was
 * before. So the rule is narrow, and a doubt means no:
 * - every known event is named in it, but for the e-mail event, whose name may be configured wrongly;
 * - `name`, `address` and at least one of `status` and `form` are updated, each with a value after;
 * - `lifetimeStarted` is updated: a company begins once, so a change of other things does not tell of it;
 * - no updated entry carries a state before, and none removes or changes a member of a list;
 * - nothing in it was malformed.
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
