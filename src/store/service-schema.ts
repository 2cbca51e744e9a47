/** The tables of the monitoring service and of the company index that it feeds; conventions as in schema.ts. */
import type { Generated } from 'kysely';

/** A company, production unit or person as the register last stated it. */
export interface SnapshotTable {
  entity: string;
  /** JSON of the normalised snapshot. */
  body: string;
  /**
   * The sources of its documents, the leading one first, separated by blanks: `datafordeler cvr`. The digest, the
   * loading time and `ahead` belong to the document of the leading source.
   */
  origins: Generated<string>;
  /** SHA-256 of the register's document, base64url: an unchanged document is skipped. */
  digest: string;
  /** When the register loaded the document, ISO 8601 UTC: an older one that arrives late is ignored. */
  loaded_at: string;
  /** The register's document as JSON while a part of it becomes valid later; else null. */
  ahead: string | null;
  /** When that part becomes valid, ms since 1970; else null. */
  ahead_at: number | null;
  /** 1 while the safety limit withholds a change of it. */
  withheld: Generated<number>;
  updated_at: number;
}

/** The last reading of a company or production unit from a source that does not lead its snapshot. */
export interface SecondReadingTable {
  entity: string;
  origin: string;
  /** JSON of the parts of the snapshot that both sources cover, as this one states them. */
  body: string;
  digest: string;
  loaded_at: string;
  ahead: string | null;
  ahead_at: number | null;
  /** The events of the differences from the snapshot, separated by blanks; null without any. */
  differs: string | null;
  /** Since when it differs, ms since 1970. */
  differs_since: number | null;
}

/** A company in a merger, by the number of the register's organisation for the merger. */
export interface MergerPartyTable {
  organisation: string;
  entity: string;
}

/** A difference for one entity, as monitors get it. `seq` is the order of detection. */
export interface ChangeTable {
  seq: Generated<number>;
  /** Natural id: the same difference, found again, is the same change. */
  id: string;
  entity: string;
  /** The entity's name when the change was found. */
  name: string;
  kind: 'register' | 'state' | 'monitor' | 'article' | 'report';
  /** The register's time, ISO 8601 UTC. */
  timestamp: string;
  /** JSON of the updates, with changed events only. */
  updates: string;
  created_at: number;
  /** The trace context of its discovery (W3C); null if telemetry is off. */
  trace: string | null;
}

/**
 * A subscription: entities, events, a webhook, mail addresses. A third-party job is a monitor of its items, with a
 * provider.
 */
export interface MonitorTable {
  /** GUID; a job's id is its monitor's. */
  id: string;
  name: string;
  /** The API key that owns it; null for the operators'. */
  owner: string | null;
  /** The {Provider} of a third-party job; null for other monitors. */
  provider: string | null;
  target: 'all' | 'items';
  /** JSON list of event names; null for all. */
  events: string | null;
  url: string | null;
  /** Sealed JSON: the authentication of the webhook, and the signing secrets, newest first. */
  security: string;
  /** JSON list of seconds before each attempt; null for the usual ones. */
  schedule: string | null;
  /** Posts to its webhook in a minute, at most; null for no limit. */
  posts_per_minute: number | null;
  /** With a limit, when the next posts may begin; null before the first. */
  next_post_at: number | null;
  /** JSON list of addresses. */
  emails: string;
  mail_frequency: 'immediate' | 'daily';
  enabled: number;
  /** When it was first enabled; null if it never was. It gets no earlier changes. */
  enabled_at: number | null;
  /** Why it is off: a person, no success for days, or an answer of 410. Null while it is on. */
  disabled_reason: 'person' | 'failing' | 'gone' | null;
  disabled_at: number | null;
  /** Since when no delivery succeeded, and the attempts since then. */
  failing_since: number | null;
  failed_attempts: number;
  /** A bit mask of the notices sent about that: 1 first failed, 2 half-way, 4 disabled, 8 failing for hours. */
  notices: number;
  created_at: number;
  updated_at: number;
}

/** A monitored entity of a monitor. */
export interface ItemTable {
  /** The order of adding, which pages follow. */
  seq: Generated<number>;
  monitor: string;
  entity: string;
  /** The id in the external system; empty in lists that have none. */
  record_id: string;
  added_at: number;
}

/** A change on its way to one monitor's webhook. */
export interface DeliveryTable {
  seq: Generated<number>;
  monitor: string;
  entity: string;
  change: number;
  /** JSON list of the event names to send: with the change it makes the same body at every attempt. */
  events: string;
  /** `due` until it succeeds; `held` while the monitor is off; `failed` after the last attempt; `dropped` by a person. */
  state: 'due' | 'held' | 'done' | 'failed' | 'dropped';
  attempts: Generated<number>;
  /** Attempts before a person requested it again, where the schedule starts again; null if nobody did. */
  replayed_from: number | null;
  /** The earliest time of the next attempt; for a held delivery, when it was held. Ms since 1970. */
  next_at: number;
  /** HTTP status of the last answer; null if none came. */
  status: number | null;
  /** Why the last attempt failed, in words. */
  error: string | null;
  created_at: number;
  /** When it left `due` or `held` for good. */
  ended_at: number | null;
}

/** One attempt of a delivery. */
export interface AttemptTable {
  id: Generated<number>;
  delivery: number;
  at: number;
  /** Duration in ms. */
  took: number;
  number: number;
  status: number | null;
  /** Why it failed, in words. */
  fault: string | null;
  /** The beginning of the answer: 16 KiB at most, 1 KiB of one that succeeded. */
  answer: string | null;
  /** JSON: the answer's headers without secrets, 4 KiB at most, 512 characters of one that succeeded; null without an answer. */
  headers: string | null;
  /** 1 if it succeeded: these are kept for a week at most. */
  done: Generated<number>;
}

/** A key for the service's endpoints. */
export interface ApiKeyTable {
  id: string;
  name: string;
  /** SHA-256 of the key, base64url: keys are random, so a slow hash is not necessary. */
  hash: string;
  /** JSON list: `monitoring`, `news`, `testwebhook`, `admin`. */
  scopes: string;
  created_at: number;
  revoked_at: number | null;
  used_at: number | null;
}

/** A news item. `seq` is the order of publication here. */
export interface NewsTable {
  seq: Generated<number>;
  id: string;
  time: number;
  promoted_until: number;
  /** The specification's type number. */
  type: number;
  /** JSON: headline, tagLine, content, provider, providerData, url, imageId, storyId, entities. */
  body: string;
}

/** An entity of a news item. One row answers a query's order and filter; the query reads the item only to show it. */
export interface NewsEntityTable {
  entity: string;
  promoted_until: number;
  time: number;
  type: number;
  news: number;
}

/** A published annual report. */
export interface FilingTable {
  /** The filing index's `_id`. */
  id: string;
  entity: string;
  /** Days, YYYY-MM-DD; null if the filing does not say. */
  period_start: string | null;
  period_end: string | null;
  published_at: string;
  /** JSON of the report data; null if no figures could be read. */
  data: string | null;
  /** Why `data` is null, in words. */
  error: string | null;
  /** Attempts that failed for a temporary reason. */
  attempts: number;
  /** When to try again, ms since 1970; null if not. */
  retry_at: number | null;
  /** JSON of the index's record until the last attempt. */
  record: string | null;
}

/** A mail to send: a change for a recipient of a monitor, or a notice. */
export interface MailTable {
  seq: Generated<number>;
  monitor: string;
  recipient: string;
  kind: 'immediate' | 'daily' | 'notice';
  /** The change; null for a notice. */
  change: number | null;
  /** JSON: `{ subject, text }` of a notice, else `{ events, formerShares? }` with the event names. */
  body: string;
  created_at: number;
  sent_at: number | null;
  failed_at: number | null;
  error: string | null;
  /** The Message-ID, stored before sending, so that another try is the same mail. */
  message: string | null;
}

/** An address that a monitor's mail does not reach: its owner unsubscribed, or the mail server refuses it. */
export interface UnsubscribedTable {
  monitor: string;
  recipient: string;
  /** When its owner unsubscribed, or the mail server first refused it. */
  at: number;
  /** The mail server's last refusal of the address; null if its owner unsubscribed. */
  bounced: string | null;
  /** How often the mail server refused it. */
  refusals: Generated<number>;
  /** When cvrsync tries a refused address again; null once its mail has ended. */
  retry_at: number | null;
  /** 1 until somebody answers the refusal in review. */
  in_review: Generated<number>;
}

/** A company or production unit of the company index. */
interface MatchEntryTable {
  number: number;
  /** JSON of an `IndexEntry`. */
  body: string;
}

/** A key by which records find an entry of the company index; see match/describe/keys.ts. */
interface MatchKeyTable {
  key: number;
  entry: number;
  company: number;
}

/** A key that waits for the company index. */
interface MatchKeyStagedTable {
  bucket: number;
  position: number;
  key: number;
  entry: number;
  company: number | null;
}

export interface ServiceSchema {
  snapshot: SnapshotTable;
  second_reading: SecondReadingTable;
  merger_party: MergerPartyTable;
  change: ChangeTable;
  monitor: MonitorTable;
  item: ItemTable;
  delivery: DeliveryTable;
  attempt: AttemptTable;
  api_key: ApiKeyTable;
  news: NewsTable;
  news_entity: NewsEntityTable;
  filing: FilingTable;
  mail: MailTable;
  unsubscribed: UnsubscribedTable;
  match_entry: MatchEntryTable;
  match_key: MatchKeyTable;
  match_key_staged: MatchKeyStagedTable;
}
