/** The webhook payload (specification, "Webhook payload"): a tolerant reader and a strict writer. */
import Type, { type Static } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { BENEFICIAL_OWNER_EVENTS } from './beneficial-owners.ts';
import { canonicalEntityId } from './entity-id.ts';
import { EVENT_NAMES, EVENTS, type EventData, type EventName, isEventName, OLDER_NAMES } from './events.ts';
import { type Issue, shape } from './shape.ts';
import { findKey, findValue, isJsonObject, type JsonObject } from './text/json.ts';
import { normaliseTime } from './text/time.ts';

/** What must be configured because the specification does not show it. */
export interface WireOptions {
  /** The e-mail event's name on the wire; `email`, which is always read, by default. */
  readonly emailEvent?: string;
  /** If false, events of beneficial owners read as not updated, with any content. */
  readonly beneficialOwners?: boolean;
}

export type Updates = { readonly [E in EventName]?: EventData<E> };

export interface Malformed {
  readonly event: string;
  readonly path: string;
  readonly message: string;
}

export interface Payload {
  /** Canonical. */
  readonly entityId: string;
  /** When the change was registered: ISO 8601, UTC, with milliseconds. */
  readonly timestamp: string;
  readonly updates: Updates;
  /** Updated entries under unknown names, unchanged. */
  readonly unknown: Readonly<Record<string, unknown>>;
  readonly malformed: readonly Malformed[];
  /** The known events that the payload names, updated or not, in the specification's order. */
  readonly stated: readonly EventName[];
}

export type ReadResult =
  | { readonly ok: true; readonly payload: Payload }
  | { readonly ok: false; readonly errors: readonly Issue[] };

const updatesSchema = Type.Partial(Type.Object(EVENTS));
// Compiled on first use: it takes about 20 ms, and many commands never read a payload.
let updatesCheck: Validator<Record<never, never>, typeof updatesSchema> | undefined;
const areUpdates = (value: unknown): value is Static<typeof updatesSchema> => {
  updatesCheck ??= Compile(updatesSchema);
  return updatesCheck.Check(value);
};

const BY_LOWER_NAME: ReadonlyMap<string, EventName> = new Map([
  ...Object.entries(OLDER_NAMES).map(([older, name]): [string, EventName] => [older.toLowerCase(), name]),
  ...EVENT_NAMES.map((name): [string, EventName] => [name.toLowerCase(), name]),
]);

/** The known event of a name on the wire; accepts older names and any case. */
export const eventNamed = (wireName: string, options: WireOptions = {}): EventName | undefined => {
  const { emailEvent } = options;
  if (emailEvent?.length === wireName.length && wireName.toLowerCase() === emailEvent.toLowerCase()) return 'email';
  return isEventName(wireName) ? wireName : BY_LOWER_NAME.get(wireName.toLowerCase());
};

export const wireNameOf = (event: string, { emailEvent }: WireOptions = {}): string =>
  event === 'email' ? (emailEvent ?? event) : event;

/** Undefined if the entry does not state it. A null entry is not updated. */
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
 * Removes what must not be read from a parsed body, so that nothing of it is stored. The events stay named, because a
 * payload of the whole company names every event.
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

/** If several keys name one event (such as an older name), an updated one counts, preferably under the exact name. */
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
      malformed.push({ event, path, message: 'does not state `updated`' });
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

export type HeadResult =
  | { readonly ok: true; readonly entityId: string; readonly timestamp: string; readonly updates: JsonObject }
  | { readonly ok: false; readonly errors: readonly Issue[] };

/** Reads only the subject and time of a parsed body, because {@link readPayload} is slow. */
export const readHead = (json: unknown): HeadResult => {
  if (!isJsonObject(json)) return { ok: false, errors: [{ path: '', message: 'is not a JSON object' }] };
  const errors: Issue[] = [];
  const idText = findValue(json, 'entityId');
  const entityId = typeof idText === 'string' ? canonicalEntityId(idText) : undefined;
  if (entityId === undefined)
    errors.push({ path: 'entityId', message: 'is not an entity id such as CVR-1-<CVR number>' });
  const timeText = findValue(json, 'timestamp');
  const timestamp = typeof timeText === 'string' ? normaliseTime(timeText) : undefined;
  if (timestamp === undefined) errors.push({ path: 'timestamp', message: 'is not an ISO 8601 time' });
  const updates = findValue(json, 'updates');
  if (!isJsonObject(updates)) errors.push({ path: 'updates', message: 'is not an object with one entry per event' });
  return entityId === undefined || timestamp === undefined || !isJsonObject(updates)
    ? { ok: false, errors }
    : { ok: true, entityId, timestamp, updates };
};

/**
 * Reads a parsed body, or its stored form. Refuses it only if {@link readHead} does, with all its errors; collects
 * other unreadable parts in `malformed`.
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

/** Makes a payload to send: it has nothing unknown or malformed, and names every event. */
export const payloadOf = (entityId: string, timestamp: string, updates: Updates): Payload => ({
  entityId,
  timestamp,
  updates,
  unknown: {},
  malformed: [],
  stated: EVENT_NAMES,
});

export interface WirePayload {
  readonly entityId: string;
  readonly timestamp: string;
  readonly updates: Readonly<Record<string, unknown>>;
}

export type Writable = Pick<Payload, 'entityId' | 'timestamp' | 'updates'> & Partial<Pick<Payload, 'unknown'>>;

/**
 * Writes a payload as the specification requires: names every known event, with `updated: false` for those without
 * data.
 */
export const writePayload = (payload: Writable, options: WireOptions = {}): WirePayload => {
  const known = EVENT_NAMES.map((name): [string, unknown] => {
    const data = payload.updates[name];
    return [wireNameOf(name, options), data === undefined ? { updated: false } : { updated: true, ...data }];
  });
  const updates = Object.fromEntries([...Object.entries(payload.unknown ?? {}), ...known]);
  return { entityId: payload.entityId, timestamp: payload.timestamp, updates };
};
