/** The store's tables: one schema for both engines, with text for JSON, and integers for times (ms since 1970) and flags. */

import type { Generated } from 'kysely';
import type { RuntimeSchema } from './runtime-schema.ts';
import type { ServiceSchema } from './service-schema.ts';

/** A webhook as it came, until it is read. `seq` is the order of arrival. */
export interface ArrivalTable {
  seq: Generated<number>;
  /** JSON as it was sent, without a byte order mark. */
  body: string;
  /** The sender's id for it, as it was sent; null if it gave none. */
  webhook_id: string | null;
  /** Whether a signature proves that id. */
  is_signed: number;
  received_at: number;
  /** The trace context that it came in (W3C); null if telemetry is off. */
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
  /** Why it was not folded, or not all of it; null if all was. */
  quarantined: string | null;
  /** How often it was begun alone, after a run that never ended; see connector/apply/poison.ts. */
  begun: Generated<number>;
  trace: string | null;
}

/** What the register says now about one field of one company. Greater `(clock, seq)` wins. */
export interface FactTable {
  entity: string;
  field: string;
  /** JSON. For a list: its members with their own clocks. */
  value: string;
  clock: string;
  seq: number;
}

/** Every value the register is known to have had for a field, `before` values included. */
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
  /** `active`, or why it is not: `gone` deleted in the CRM, `merged` into another linked record, `removed` by a person, `conflict` needs a person. */
  state: 'active' | 'gone' | 'merged' | 'removed' | 'conflict';
  reason: string | null;
  /** What we want upstream to be: stored first, the call follows. */
  desired: 'on' | 'off';
  /** What upstream last confirmed. */
  observed: 'unknown' | 'on' | 'off' | 'refused';
  observed_at: number | null;
  observed_error: string | null;
  /** 1 if the next add asks upstream for a full update. */
  send_update: number;
  /** The newest receipt that had left a list incomplete when the link last asked for a full update because of it; null before that. */
  asked_seq: number | null;
  /** The newest receipt whose facts the record was last brought up to. */
  synced_seq: number;
  synced_at: number | null;
  /** `number`: made because the record holds the company's CVR number, and follows that number. `person`: made by hand. */
  origin: 'person' | 'number';
  /** Whose word counts if nobody knows who wrote a property: `register` overwrites it once, then it is tracked. */
  trust: 'crm' | 'register';
  /** 1 if a person accepted the company that a match found: the record gets its number, where it has none. */
  writes_number: number;
  /**
   * What the record held as its number when that spoke against the link: the entity id, or the text if it is none.
   * Such a conflict ends by itself once the number agrees. On an active link: what a person has accepted; empty if the
   * link came by a merge, and the survivor's number has not agreed with it yet.
   */
  mismatch: string | null;
  created_at: number;
  updated_at: number;
}

/** What cvrsync wrote last into the properties of one record. */
export interface WrittenTable {
  provider: string;
  record_id: string;
  /** JSON: property → the value, and when it was written. */
  properties: string;
}

/** The state of one property of one record: a value that the CRM refused, a difference that is kept, an edit to put back. */
export interface PropertyStateTable {
  provider: string;
  record_id: string;
  property: string;
  /** JSON of the value that was set aside, null if none is. */
  refused: string | null;
  refused_reason: string | null;
  /** Fingerprint of the property's schema when the CRM refused the value; null if the schema itself rules the value out. */
  refused_schema: string | null;
  /** When it is sent again at the latest; null if the schema itself rules it out. */
  refused_until: number | null;
  /** JSON of what the CRM held then, and keeps; null if that is not known. */
  refused_over: string | null;
  /** When the register's word was taken for it under a link's `trust: register`; that happens once. */
  trusted_at: number | null;
  /** JSON of the value in the CRM that is kept though the register says another; null if none is. */
  kept: string | null;
  /** JSON of what the register says beside it. */
  offered: string | null;
  kept_at: number | null;
  /** JSON of who wrote the value that is kept, `null` if the CRM does not tell; null before it was asked. */
  kept_by: string | null;
  /** The property that stands for the difference; null if this one does. */
  kept_with: string | null;
  /** JSON of a person's edit that a write of ours went over, until it is put back; null if there is none. */
  overwritten: string | null;
}

/** A person's hold or release of one property of one record, above the policy. Property `*` stands for all of the record's. */
export interface OverrideTable {
  provider: string;
  record_id: string;
  property: string;
  /** `release`: the register wins over a person's edit; `hold`: nothing is written. */
  kind: 'release' | 'hold';
  /** 1 where it ends with the first write, or where the CRM holds the value already. */
  once: number;
  /** When a hold ends; null for until it is lifted. */
  until: number | null;
  reason: string | null;
  created_at: number;
  /** JSON of the CRM's value that a release is over: it counts over no other. Absent or null if it counts over any. */
  seen?: string | null | undefined;
}

/** A note to leave on a record for one event, exactly once. */
export interface NoteTable {
  provider: string;
  record_id: string;
  /** Made of what it tells: the same event that comes again has the same, and is one note. */
  marker: string;
  /** The receipt that it tells of. */
  seq: number;
  entity: string;
  subject: string;
  body: string;
  /** The event's time, or when it came where that lay ahead. */
  at: number;
  /** `dropped`: the record is gone or stands for another company, or the CRM refused it. */
  state: 'due' | 'done' | 'dropped';
  /** When it was last sent: from then on it is looked for before it is sent again. */
  attempted_at: number | null;
  note_id: string | null;
  done_at: number | null;
}

/** The owner of a record's company, and the parent that cvrsync gave the record. */
export interface ParentTable {
  provider: string;
  record_id: string;
  /** The company that owns more than half of the record's, when we last looked; null if none does. */
  owner: string | null;
  /** The parent we gave it; null if we gave none, or ended ours. */
  parent_id: string | null;
  /** A parent we were about to give it: ours too, should the CRM hold it. */
  pending_id: string | null;
}

/** A record as a scan of the CRM saw it, and what is planned for it: a row of a backfill or of a reconcile. */
export interface ScanTable {
  provider: string;
  purpose: 'backfill' | 'reconcile';
  record_id: string;
  /** The order in which rows are shown and applied. */
  position: number;
  name: string | null;
  /** The number as the CRM holds it. */
  found: string | null;
  /** The canonical entity id, where the number is one. */
  entity: string | null;
  verdict: string;
  action: string;
  state: 'planned' | 'done' | 'failed';
  detail: string | null;
  /** How often people edited the row on a page. */
  version: Generated<number>;
}

/** An item of the monitoring service's list, as a reconcile read it. */
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
  /** What was decided for properties, as JSON (`connector/history/history-lines.ts`); null for what is about the whole record. */
  lines: string | null;
  /** What is told of the record as a whole. */
  detail: string | null;
}

/** The last answer that a person gave to something in review, for as long as it can be taken back. */
export interface ReviewAnswerTable {
  /** What it was given to, as `review` names it. */
  subject: string;
  verb: 'retry' | 'drop' | 'accept' | 'keep';
  at: number;
  /** JSON of what it replaced; see connector/review/given-answers.ts. */
  replaced: string;
}

/** A record that a person skipped in a plan, and the company whose number it held then. */
interface PlanSkipTable {
  provider: string;
  record_id: string;
  entity: string;
}

/** The company that a record without a number was found to mean, in the last match of its connection. */
interface MatchResultTable {
  provider: string;
  record_id: string;
  /** Of the record in the scan. */
  position: number;
  confidence: string;
  /** The first candidate; null if there is none. */
  entity: string | null;
  /** JSON of a `MatchedRecord`; see connector/match/results.ts. */
  body: string;
  /** Since when it waits in review for a person; null if it is of a scan only. */
  suggested_at: number | null;
}

/** A company that a person said a record does not mean. */
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
