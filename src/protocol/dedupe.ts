/**
 * One webhook, one effect: the key by which a repeated webhook is recognised, and the text that is stored.
 */
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

/** The three parts that make two webhooks the same, and whatever else the body has. */
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

/** The `webhook-id` a sender gave, and whether its signature proves it. */
export interface SentId {
  readonly id: string | undefined;
  readonly isSigned: boolean;
}

/** What is kept of a webhook: the key by which a repeated one is recognised, and its text. */
export interface CanonicalEvent {
  /**
   * Its `webhook-id` where a signature proves that; with another id that and the digest together; else the digest. At
   * most 200 characters.
   */
  readonly key: string;
  /** The sender's id, at most 200 characters; undefined where it gave none. */
  readonly webhookId: string | undefined;
  /**
   * The SHA-256 (base64url) of the canonical JSON of `{entityId, timestamp, updates}`. Entries that are not updated do not count: they carry no meaning, and after an
   * upgrade of the sender a repeated webhook may have more of them. Key order, blanks, the spelling of the entity id
   * and of the time do not count either.
   */
  readonly digest: string;
  /**
   * Canonical JSON without the entries that are not updated; `readPayload` reads it back to the same payload but for
   * `stated`. That is kept, as a field of that name, only where the payload states the whole company: nothing else asks
   * for it. The key of the kept text is that of the body.
   */
  readonly body: string;
}

/** What the store keeps of a webhook's parsed body. `read` gives what `readPayload` makes of it; seldom called. */
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

/** The names to keep: only where the payload states the whole company, which takes reading it, so seldom asked. */
const statedIn = ({ updates }: JsonObject, read: () => Payload | undefined): readonly string[] | undefined => {
  if (!isJsonObject(updates) || findKey(updates, ['name']) === undefined || findKey(updates, ['address']) === undefined)
    return undefined;
  const payload = read();
  return payload !== undefined && statesWholeCompany(payload) ? payload.stated : undefined;
};

/** Names a webhook and its event in the log: the sender's id, or the digest of what it says where it gave none. */
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
