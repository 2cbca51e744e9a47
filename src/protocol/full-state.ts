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
 * Tells whether a payload states everything the register has on the company: its lists of members are then
 * complete. Of other events that it names without updating them it says nothing: an absent value clears nothing.
 * Production units are no such list: their events name one unit at a time.
 *
 * The specification does not mark such payloads, so the rule is narrow, and a doubt means no:
 * - every known event is named in it, but for the e-mail event, whose name may be configured wrongly;
 * - `name`, `address` and at least one of `status` and `form` are updated, each with a value after;
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
    ((updates.status?.after ?? null) !== null || (updates.form?.after ?? null) !== null);
  return hasCore && Object.values(updates).every((data) => !hasBefore(data) && !takesAway(data));
};
