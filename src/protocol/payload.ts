/**
 * The webhook payload (specification, "Webhook payload"), both directions: a tolerant reader, a strict writer.
 */
import Type, { type Static } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { BENEFICIAL_OWNER_EVENTS } from './beneficial-owners.ts';
import { canonicalEntityId } from './entity-id.ts';
import { EVENT_NAMES, EVENTS, type EventData, type EventName, isEventName, OLDER_NAMES } from './events.ts';
import { findKey, findValue, isJsonObject, type JsonObject } from './text/json.ts';
import { type Issue, shape } from './text/shape.ts';
import { normaliseTime } from './text/time.ts';

/** What is configuration because the specification does not show it. */
export interface WireOptions {
  /** The e-mail event's name on the wire; `email` where absent, which is read in any case. */
  readonly emailEvent?: string;
  /** False: events of beneficial owners are read as named and not updated, whatever they say. */
  readonly beneficialOwners?: boolean;
}

/** The data of the updated events. */
export type Updates = { readonly [E in EventName]?: EventData<E> };

/** An entry that was set aside because its data could not be read. */
export interface Malformed {
  readonly event: string;
  readonly path: string;
  readonly message: string;
}

/** One webhook, read. */
export interface Payload {
  /** Canonical. */
  readonly entityId: string;
  /** When the change was registered: ISO 8601, UTC, with milliseconds. */
  readonly timestamp: string;
  /** Only what is updated. */
  readonly updates: Updates;
  /** Updated entries under names that are not known, as they came. */
  readonly unknown: Readonly<Record<string, unknown>>;
  readonly malformed: readonly Malformed[];
  /** The known events the payload names at all, updated or not, in the specification's order. */
  readonly stated: readonly EventName[];
}

export type ReadResult =
  | { readonly ok: true; readonly payload: Payload }
  | { readonly ok: false; readonly errors: readonly Issue[] };

const updatesSchema = Type.Partial(Type.Object(EVENTS));
// Compiled on first use: it costs about 20 ms, and many a command never reads a payload.
let updatesCheck: Validator<Record<never, never>, typeof updatesSchema> | undefined;
const areUpdates = (value: unknown): value is Static<typeof updatesSchema> => {
  updatesCheck ??= Compile(updatesSchema);
  return updatesCheck.Check(value);
};

const BY_LOWER_NAME: ReadonlyMap<string, EventName> = new Map([
  ...Object.entries(OLDER_NAMES).map(([older, name]): [string, EventName] => [older.toLowerCase(), name]),
  ...EVENT_NAMES.map((name): [string, EventName] => [name.toLowerCase(), name]),
]);

/** The known event a name on the wire stands for; undefined for an unknown one. Older names and any case are known. */
export const eventNamed = (wireName: string, options: WireOptions = {}): EventName | undefined => {
  const { emailEvent } = options;
  if (emailEvent?.length === wireName.length && wireName.toLowerCase() === emailEvent.toLowerCase()) return 'email';
  return isEventName(wireName) ? wireName : BY_LOWER_NAME.get(wireName.toLowerCase());
};

/** The name on the wire of a known event. */
export const wireNameOf = (event: string, { emailEvent }: WireOptions = {}): string =>
  event === 'email' ? (emailEvent ?? event) : event;

/** Whether an entry is updated; undefined where it does not say. A null entry is not. */
export const isUpdated = (entry: unknown): boolean | undefined => {
  if (entry === null) return false;
  if (!isJsonObject(entry)) return undefined;
  const updated = Object.hasOwn(entry, 'updated') ? entry['updated'] : findValue(entry, 'updated');
  if (typeof updated !== 'string') return typeof updated === 'boolean' ? updated : undefined;
  const text = updated.trim().toLowerCase();
  return text === 'true' || text === 'false' ? text === 'true' : undefined;
};

const withoutUpdated = (entry: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(entry).filter(([key]) => key.toLowerCase() !== 'updated' && key !== '__proto__'));

const isWithheld = (event: EventName, { beneficialOwners }: WireOptions): boolean =>
  beneficialOwners === false && BENEFICIAL_OWNER_EVENTS.has(event);

/**
 * A webhook's parsed body without what is not to be read, so that nothing of it is kept. The events stay named: a payload
 * that states the whole company names every one.
 */
export const withoutWithheld = (json: unknown, options: WireOptions): unknown => {
  const key = isJsonObject(json) ? findKey(json, ['updates']) : undefined;
  const updates = isJsonObject(json) && key !== undefined ? json[key] : undefined;
  if (!isJsonObject(json) || key === undefined || !isJsonObject(updates)) return json;
  const isRead = (name: string): boolean => {
    const event = eventNamed(name, options);
    return event === undefined || !isWithheld(event, options);
  };
  const entries = Object.entries(updates);
  if (entries.every(([name]) => isRead(name))) return json;
  const read = entries.map(([name, entry]) => [name, isRead(name) ? entry : { updated: false }]);
  return { ...json, [key]: Object.fromEntries(read) };
};

/** Of several keys for one event (an older name beside the new one) the updated one counts, the exact name first. */
const entriesByEvent = (updates: JsonObject, options: WireOptions): Map<EventName, string> => {
  const chosen = new Map<EventName, string>();
  // Sorted, so that the choice between two misspelt names does not depend on their order.
  for (const key of Object.keys(updates).sort()) {
    const event = eventNamed(key, options);
    if (event === undefined) continue;
    const before = chosen.get(event);
    const isBetter =
      before === undefined ||
      isUpdated(updates[before]) === false ||
      (key === event && isUpdated(updates[key]) !== false);
    if (isBetter) chosen.set(event, key);
  }
  return chosen;
};

const readUpdates = (updates: JsonObject, options: WireOptions): Pick<Payload, 'updates' | 'malformed' | 'stated'> => {
  const read: Record<string, unknown> = {};
  const malformed: Malformed[] = [];
  const entries = entriesByEvent(updates, options);
  for (const event of EVENT_NAMES) {
    const key = entries.get(event);
    if (key === undefined || isWithheld(event, options)) continue;
    const entry = updates[key];
    const updated = isUpdated(entry);
    if (updated === false) continue;
    const path = `updates.${key}`;
    if (updated === undefined || !isJsonObject(entry)) {
      malformed.push({ event, path, message: 'does not say by `updated` whether it is' });
      continue;
    }
    const issues: Issue[] = [];
    const data = shape(EVENTS[event], withoutUpdated(entry), path, issues);
    if (issues.length === 0) read[event] = data;
    else malformed.push(...issues.map((issue) => ({ event, ...issue })));
  }
  if (!areUpdates(read)) throw new Error('the reader of event data and its schemas disagree');
  return { updates: read, malformed, stated: EVENT_NAMES.filter((name) => entries.has(name)) };
};

const statedBefore = (json: unknown): readonly unknown[] => {
  const names = isJsonObject(json) ? findValue(json, 'stated') : undefined;
  return Array.isArray(names) ? names : [];
};

/** What must be usable of a payload for any of it to be. */
export type HeadResult =
  | { readonly ok: true; readonly entityId: string; readonly timestamp: string; readonly updates: JsonObject }
  | { readonly ok: false; readonly errors: readonly Issue[] };

/** Reads whom a webhook's parsed body is about and when, and leaves its entries alone: {@link readPayload} takes long. */
export const readHead = (json: unknown): HeadResult => {
  if (!isJsonObject(json)) return { ok: false, errors: [{ path: '', message: 'is not a JSON object' }] };
  const errors: Issue[] = [];
  const idText = findValue(json, 'entityId');
  const entityId = typeof idText === 'string' ? canonicalEntityId(idText) : undefined;
  if (entityId === undefined) errors.push({ path: 'entityId', message: 'is no entity id such as CVR-1-<CVR number>' });
  const timeText = findValue(json, 'timestamp');
  const timestamp = typeof timeText === 'string' ? normaliseTime(timeText) : undefined;
  if (timestamp === undefined) errors.push({ path: 'timestamp', message: 'is no ISO 8601 time' });
  const updates = findValue(json, 'updates');
  if (!isJsonObject(updates)) errors.push({ path: 'updates', message: 'is not an object with one entry per event' });
  return entityId === undefined || timestamp === undefined || !isJsonObject(updates)
    ? { ok: false, errors }
    : { ok: true, entityId, timestamp, updates };
};

/**
 * Reads a webhook's parsed body, or what the store kept of it. Refuses only where {@link readHead} does, and then names
 * all that is unusable; anything else that cannot be read is set aside.
 */
export const readPayload = (json: unknown, options: WireOptions = {}): ReadResult => {
  const head = readHead(json);
  if (!head.ok) return head;
  const { entityId, timestamp, updates } = head;
  const read = readUpdates(updates, options);
  const unknown = Object.entries(updates).filter(
    ([key, entry]) => isUpdated(entry) === true && key !== '__proto__' && eventNamed(key, options) === undefined,
  );
  const before = statedBefore(json);
  const stated =
    before.length === 0
      ? read.stated
      : EVENT_NAMES.filter((name) => read.stated.includes(name) || before.includes(name));
  return { ok: true, payload: { entityId, timestamp, ...read, stated, unknown: Object.fromEntries(unknown) } };
};

/** A payload of our own making: nothing in it is unknown or malformed, and it names every event. */
export const payloadOf = (entityId: string, timestamp: string, updates: Updates): Payload => ({
  entityId,
  timestamp,
  updates,
  unknown: {},
  malformed: [],
  stated: EVENT_NAMES,
});

/** A payload as JSON: every known event name is present. */
export interface WirePayload {
  readonly entityId: string;
  readonly timestamp: string;
  readonly updates: Readonly<Record<string, unknown>>;
}

/** What a writer must know; the rest of a {@link Payload} follows from it. */
export type Writable = Pick<Payload, 'entityId' | 'timestamp' | 'updates'> & Partial<Pick<Payload, 'unknown'>>;

/** Writes a payload as the specification wants it: every known event by name, `updated` false where it is not. */
export const writePayload = (payload: Writable, options: WireOptions = {}): WirePayload => {
  const known = EVENT_NAMES.map((name): [string, unknown] => {
    const data = payload.updates[name];
    return [wireNameOf(name, options), data === undefined ? { updated: false } : { updated: true, ...data }];
  });
  const updates = Object.fromEntries([...Object.entries(payload.unknown ?? {}), ...known]);
  return { entityId: payload.entityId, timestamp: payload.timestamp, updates };
};
