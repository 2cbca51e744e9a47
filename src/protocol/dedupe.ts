/** Recognises repeated webhooks: their key, and the text that is stored. */
import { hash } from 'node:crypto';
import { canonicalEntityId } from './entity-id.ts';
import { statesWholeCompany } from './full-state.ts';
import { isUpdated, type Payload, readPayload, type WireOptions } from './payload.ts';
import { canonicalJson, findKey, isJsonObject, type JsonObject } from './text/json.ts';
import { normaliseTime } from './text/time.ts';

const LONGEST_ID = 200;
const FIELDS = ['entityId', 'timestamp', 'updates', 'stated'] as const;

const sha256 = (text: string): string => hash('sha256', text, 'base64url');

const normalised = (value: unknown, normalise: (text: string) => string | undefined): unknown =>
  typeof value === 'string' ? (normalise(value) ?? value) : value;

const updatedOnly = (updates: unknown): unknown =>
  isJsonObject(updates)
    ? Object.fromEntries(Object.entries(updates).filter(([, entry]) => isUpdated(entry) !== false))
    : updates;

/** The three parts that make two webhooks equal, and the rest of the body. */
const partsOf = (json: unknown): { readonly core: JsonObject; readonly rest: JsonObject } => {
  if (!isJsonObject(json)) return { core: { body: json }, rest: {} };
  const [entityKey, timeKey, updatesKey, statedKey] = FIELDS.map((name) => findKey(json, [name]));
  const value = (key: string | undefined): unknown => (key === undefined ? undefined : json[key]);
  const known = new Set([entityKey, timeKey, updatesKey, statedKey]);
  return {
    core: {
      entityId: normalised(value(entityKey), canonicalEntityId),
      timestamp: normalised(value(timeKey), normaliseTime),
      updates: updatedOnly(value(updatesKey)),
    },
    rest: Object.fromEntries(Object.entries(json).filter(([key]) => !known.has(key))),
  };
};

/** The sender's `webhook-id`, and whether a signature proves it. */
export interface SentId {
  readonly id: string | undefined;
  readonly isSigned: boolean;
}

/** What is stored of a webhook. */
export interface CanonicalEvent {
  /**
   * The `webhook-id` if a signature proves it; a digest of the id and the content for an unproven id; else the digest
   * of the content. At most 200 characters.
   */
  readonly key: string;
  /** The sender's id, at most 200 characters. */
  readonly webhookId: string | undefined;
  /**
   * The SHA-256 (base64url) of the canonical JSON of `{entityId, timestamp, updates}`. Ignores entries that are not
   * updated, because a sender may add some after an upgrade, and the order of keys, blanks, and spellings of the entity
   * id and the time.
   */
  readonly digest: string;
  /**
   * Canonical JSON without the entries that are not updated; `readPayload` restores the payload from it, except
   * `stated`. The field `stated` is present only if the payload states the whole company, because nothing else reads
   * it. The stored text has the same key as the body.
   */
  readonly body: string;
}

/**
 * Makes the stored form of a webhook's parsed body. `read` parses the body as `readPayload` does; it is rarely called.
 */
export const canonicalise = (sent: SentId, json: unknown, read: () => Payload | undefined): CanonicalEvent => {
  const { core, rest } = partsOf(json);
  const text = canonicalJson(core);
  const stated = statedIn(core, read);
  const isBare = stated === undefined && Object.keys(rest).length === 0;
  const digest = sha256(text);
  const webhookId = idOf(sent.id);
  const key = keyOf(webhookId, sent.isSigned, digest);
  return { key, webhookId, digest, body: isBare ? text : canonicalJson({ ...rest, ...core, stated }) };
};

const keyOf = (id: string | undefined, isSigned: boolean, digest: string): string => {
  if (id === undefined) return digest;
  return isSigned ? id : sha256(`${id} ${digest}`);
};

const idOf = (webhookId: string | undefined): string | undefined => {
  const id = webhookId?.trim() ?? '';
  if (id === '') return undefined;
  return id.length <= LONGEST_ID ? id : sha256(id);
};

/** The stated names, only if the payload states the whole company. */
const statedIn = ({ updates }: JsonObject, read: () => Payload | undefined): readonly string[] | undefined => {
  if (!isJsonObject(updates) || findKey(updates, ['name']) === undefined || findKey(updates, ['address']) === undefined)
    return undefined;
  const payload = read();
  return payload !== undefined && statesWholeCompany(payload) ? payload.stated : undefined;
};

/** Names a webhook in the log: by the sender's id, or by the digest of its content. */
export const requestIdOf = (webhookId: string | undefined, json: unknown): string =>
  idOf(webhookId) ?? sha256(canonicalJson(partsOf(json).core));

/** The {@link CanonicalEvent.key} of a webhook. */
export const dedupeKey = (webhookId: string | undefined, json: unknown, isSigned = false): string =>
  keyOf(idOf(webhookId), isSigned, sha256(canonicalJson(partsOf(json).core)));

/** The {@link CanonicalEvent.body} of a webhook. */
export const canonicalBody = (json: unknown, options: WireOptions = {}): string =>
  canonicalise({ id: undefined, isSigned: false }, json, () => {
    const read = readPayload(json, options);
    return read.ok ? read.payload : undefined;
  }).body;
