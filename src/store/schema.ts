/** The store's tables: one schema for both engines. Text for JSON; integers for times (ms since 1970) and flags. */

import type { Generated } from 'kysely';
import type { RuntimeSchema } from './runtime-schema.ts';
import type { ServiceSchema } from './service-schema.ts';

/** A webhook as it arrived, until it is read. `seq` is the order of arrival. */
export interface ArrivalTable {
  seq: Generated<number>;
  /** The JSON as sent, without a byte order mark. */
  body: string;
  /** The sender's id for it, as sent; null if it gave none. */
  webhook_id: string | null;
  /** Whether a signature proves that id. */
  is_signed: number;
  received_at: number;
  /** Its trace context (W3C); null if telemetry is off. */
  trace: string | null;
}

/** An accepted webhook. `seq` is the order of arrival; `body` is canonical JSON and null once pruned. */
export interface ReceiptTable {
  seq: Generated<number>;
  dedupe_key: string;
  entity: string;
  /** The payload's register time, ISO 8601 UTC. */
  timestamp: string;
  body: string | null;
  received_at: number;
  applied_at: number | null;
  /** The sender's id for it; null if it gave none. */
  webhook_id: string | null;
  /** SHA-256 of what the event says, base64url; null if `receive` read it from a file. */
  digest: string | null;
  /** Why cvrsync did not fold all of it; null if it did. */
  quarantined: string | null;
  /** How often it was read alone after a run that never ended; see connector/apply/poison.ts. */
  begun: Generated<number>;
  trace: string | null;
}

/** The register's current value of one field of one company. The greater `(clock, seq)` wins. */
export interface FactTable {
  entity: string;
  field: string;
  /** JSON. For a list: its members with their own clocks. */
  value: string;
  clock: string;
  seq: number;
}

/** Every known value of a field in the register, `before` values included. */
export interface KnownValueTable {
  entity: string;
  field: string;
  /** SHA-256 of the value, base64url. */
  digest: string;
  value: string;
  seen_at: number;
}

/** Which company a CRM record is, and whether it is monitored upstream for that record. */
export interface LinkTable {
  provider: string;
  record_id: string;
  entity: string;
  /**
   * `active`, or why not: `gone` deleted in the CRM, `merged` into another linked record, `removed` by a person,
   * `conflict` waits for a person.
   */
  state: 'active' | 'gone' | 'merged' | 'removed' | 'conflict';
  reason: string | null;
  /** The desired state of the monitoring: stored first, the call follows. */
  desired: 'on' | 'off';
  /** The state that the monitoring service last confirmed. */
  observed: 'unknown' | 'on' | 'off' | 'refused';
  observed_at: number | null;
  observed_error: string | null;
  /** 1 if the next add requests a full update. */
  send_update: number;
  /** The newest receipt with an incomplete list when the link last requested a full update for it; null before. */
  asked_seq: number | null;
  /** The newest receipt whose facts the record has. */
  synced_seq: number;
  synced_at: number | null;
  /** `number`: the record holds the company's CVR number, and the link follows it. `person`: made by hand. */
  origin: 'person' | 'number';
  /** Who wins if it is unknown who wrote a property: `register` overwrites it once, then it is tracked. */
  trust: 'crm' | 'register';
  /** 1 if a person accepted a match: cvrsync writes the number into a record without one. */
  writes_number: number;
  /**
   * The number in the record when it contradicted the link: the entity id, or the text if it is not one. Such a
   * conflict ends by itself once the number agrees. On an active link: the number that a person accepted; empty if the
   * link came by a merge, and the survivor's number has not agreed yet.
   */
  mismatch: string | null;
  created_at: number;
  updated_at: number;
}

/** The last values that cvrsync wrote into the properties of one record. */
export interface WrittenTable {
  provider: string;
  record_id: string;
  /** JSON: property → the value, and when cvrsync wrote it. */
  properties: string;
}

/** The state of one property of one record: a refused value, a kept difference, an edit to restore. */
export interface PropertyStateTable {
  provider: string;
  record_id: string;
  property: string;
  /** JSON of the refused value; null if there is none. */
  refused: string | null;
  refused_reason: string | null;
  /**
   * Fingerprint of the property's schema when the CRM refused the value; null if the schema itself excludes the value.
   */
  refused_schema: string | null;
  /** When to send it again at the latest; null if the schema excludes it. */
  refused_until: number | null;
  /** JSON of the CRM's value at that time, which cvrsync left in place; null if unknown. */
  refused_over: string | null;
  /** When the register's value replaced it once under a link's `trust: register`. */
  trusted_at: number | null;
  /** The CRM's value, as JSON, that cvrsync keeps instead of the register's; null if it keeps no such value. */
  kept: string | null;
  /** JSON of the register's value. */
  offered: string | null;
  kept_at: number | null;
  /** JSON of the author of the kept value, `null` if the CRM does not know; null before cvrsync asked. */
  kept_by: string | null;
  /** The property that shows the difference; null if this one does. */
  kept_with: string | null;
  /** JSON of a person's edit that cvrsync overwrote, until it is restored; null if there is none. */
  overwritten: string | null;
}

/** A person's hold or release of one property of one record, above the policy. Property `*` means all properties. */
export interface OverrideTable {
  provider: string;
  record_id: string;
  property: string;
  /**
   * `release`: the register wins over a person's edit; `hold`: cvrsync writes nothing; `merged`: a hold of a record that was
   * merged away, until the CRM restores the record.
   */
  kind: 'release' | 'hold' | 'merged';
  /** 1 if it ends with the first write, or when the CRM holds the value already. */
  once: number;
  /** When a hold ends; null until it is cleared. */
  until: number | null;
  reason: string | null;
  created_at: number;
  /** JSON of the only CRM value that a release overrides; absent or null for any value. */
  seen?: string | null | undefined;
  /** What placed it: a `person` who held or released, an answer in `review`, or an `undo`. */
  origin: Generated<'person' | 'review' | 'undo'>;
  /** Who placed it, as the audit names them, and from where; null if unknown. */
  placed_by: string | null;
  placed_via: 'page' | 'command' | 'api' | null;
}

/** A note to add to a record for one event, exactly once. */
export interface NoteTable {
  provider: string;
  record_id: string;
  /** Made from the content: a repeated event has the same, and is one note. */
  marker: string;
  /** The event's receipt. */
  seq: number;
  entity: string;
  subject: string;
  body: string;
  /** The event's time, or its arrival if that time was in the future. */
  at: number;
  /** `dropped`: the record is gone or belongs to another company, or the CRM refused the note. */
  state: 'due' | 'done' | 'dropped';
  /** When it was last sent: cvrsync then looks for it before it sends it again. */
  attempted_at: number | null;
  note_id: string | null;
  done_at: number | null;
}

/** The owner of a record's company, and the parent that cvrsync gave the record. */
export interface ParentTable {
  provider: string;
  record_id: string;
  /** The company that owned more than half of the record's at the last check; null if none does. */
  owner: string | null;
  /** The parent that cvrsync set; null if none. */
  parent_id: string | null;
  /** A parent that cvrsync was about to set: it counts as ours if the CRM holds it. */
  pending_id: string | null;
}

/** A record in a scan of the CRM, and the plan for it: a row of a backfill or reconcile. */
export interface ScanTable {
  provider: string;
  purpose: 'backfill' | 'reconcile';
  record_id: string;
  /** The order of the rows. */
  position: number;
  name: string | null;
  /** The number in the CRM. */
  found: string | null;
  /** The canonical entity id, if the number is one. */
  entity: string | null;
  verdict: string;
  action: string;
  state: 'planned' | 'done' | 'failed';
  detail: string | null;
  /** How often people edited the row on a page. */
  version: Generated<number>;
}

/** An item in the monitoring service's list, as a reconcile read it. */
export interface ScanItemTable {
  provider: string;
  entity: string;
  record_id: string;
}

/** One decision about a record, and its outcome. */
export interface HistoryTable {
  id: Generated<number>;
  at: number;
  provider: string;
  record_id: string;
  entity: string;
  /** The receipt that brought the values, 0 if none. */
  seq: number;
  rule: string;
  outcome: string;
  /**
   * The decisions for the properties, as JSON (`connector/history/history-lines.ts`); null for a decision about the
   * whole record.
   */
  lines: string | null;
  /** A remark on the whole record. */
  detail: string | null;
}

/** The last answer of a person to a review entry, while it can be undone. */
export interface ReviewAnswerTable {
  /** The review entry. */
  subject: string;
  verb: 'retry' | 'drop' | 'accept' | 'keep';
  at: number;
  /** JSON of what it replaced; see connector/review/given-answers.ts. */
  replaced: string;
}

/** A record that a person skipped in a plan, and the company of its number then. */
interface PlanSkipTable {
  provider: string;
  record_id: string;
  entity: string;
}

/** The result of the last match of the connection for a record without a number. */
interface MatchResultTable {
  provider: string;
  record_id: string;
  /** The position of the record in the scan. */
  position: number;
  confidence: string;
  /** The first candidate; null if there is none. */
  entity: string | null;
  /** JSON of a `MatchedRecord`; see connector/match/results.ts. */
  body: string;
  /** Since when it waits in review; null if it is only part of a scan. */
  suggested_at: number | null;
}

/** A company that a person rejected for a record. */
interface MatchRejectionTable {
  provider: string;
  record_id: string;
  entity: string;
}

export interface StoreSchema extends ServiceSchema, RuntimeSchema {
  arrival: ArrivalTable;
  receipt: ReceiptTable;
  fact: FactTable;
  known_value: KnownValueTable;
  link: LinkTable;
  written: WrittenTable;
  property_state: PropertyStateTable;
  history: HistoryTable;
  review_answer: ReviewAnswerTable;
  override: OverrideTable;
  note: NoteTable;
  parent: ParentTable;
  scan: ScanTable;
  scan_item: ScanItemTable;
  plan_skip: PlanSkipTable;
  match_result: MatchResultTable;
  match_rejection: MatchRejectionTable;
}
