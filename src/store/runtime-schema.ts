/** The tables of the runtime: lanes and pending writes, rate limits, daemons, operators and their audit, runs. */
import type { Generated } from 'kysely';

/** A keyed piece of work that may be behind. The row exists only while it is. */
export interface LaneTable {
  queue: string;
  key: string;
  /** When it may be claimed: now, or after a back-off. Null while parked. */
  due_at: number | null;
  /** The fencing token, unique to the claim that holds it; null while unclaimed. */
  fence: number | null;
  /** When the claim ends unless it is renewed; null while unclaimed. */
  lease_until: number | null;
  /** Marked while claimed: when it is due after this run. Null otherwise. */
  again_at: number | null;
  /** How often it was marked: a claim that finds the same number at settle time has seen everything. */
  marks: number;
  attempts: number;
  /** Since when it is behind without a success. */
  since: number;
  /** Consecutive claims that were never settled: the process died, or outlived its lease. */
  unended: Generated<number>;
  error: string | null;
  parked_at: number | null;
}

/** A write with an unknown outcome: it may have arrived, or may still arrive. */
export interface PendingWriteTable {
  queue: string;
  key: string;
  /** The fencing token of its claim; 0 if its process got no answer. */
  fence: number;
  /** When it began. */
  at: number;
  /** JSON of the queue's worker. */
  detail: string;
  /** When its lane is to be marked next. */
  check_at: number;
  /** When its answer came, if another process owned the lane by then; else null. */
  answered_at: number | null;
}

/** The next free slot of one account and budget, and the end of its block. */
export interface RateLimitTable {
  key: string;
  /** Ms since 1970 with a fraction: slots of a fast budget lie less than a millisecond apart. */
  next_at: number;
  blocked_until: number;
  reason: string | null;
  /** When the current series of blocks began; null if there is none. */
  blocked_since: number | null;
  /** Why: a fault of a provider, such as `auth`. */
  fault: string | null;
}

/** The calls of one minute with a limit. */
export interface CallWindowTable {
  /** The limit and the caller. */
  key: string;
  /** When the minute began. */
  since: number;
  /** Calls that daemons requested; may exceed the limit. */
  taken: number;
}

/** A daemon that runs on the store. */
export interface DaemonTable {
  id: string;
  /** Host and process, for people. */
  name: string;
  started_at: number;
  /** Its last heartbeat. */
  seen_at: number;
  /** JSON: digests of the parts of its configuration. */
  digests: string;
  /** Its roles, separated by blanks. */
  roles: string;
}

/** A version of the accepted configuration: the newest one is in force. */
export interface ConfigVersionTable {
  id: Generated<number>;
  /** The digest of the whole configuration. */
  digest: string;
  accepted_at: number;
  /** A person; `first start`, or `start` if no person had to accept it. */
  accepted_by: string;
  /** JSON: the digest of each part, of secrets too. */
  digests: string;
  /** JSON: the parts, without secrets. */
  content: string;
}

/** A small value that survives a restart: a cursor, a rotated token, the identity of the running daemon. */
export interface KvTable {
  key: string;
  value: string;
  updated_at: number;
}

/** The body of a webhook or register document that could not be used, cut to a cap. */
export interface QuarantineTable {
  id: Generated<number>;
  received_at: number;
  /** The source: a sender of webhooks, or the register. */
  source: 'webhook' | 'register';
  /** The number of a register document, if known. */
  subject: string | null;
  reason: string;
  body: string;
}

/** An alert of one channel, while its cause lasts. */
export interface AlertTable {
  channel: string;
  key: string;
  what: string;
  since: number;
  /** Null before it was sent. */
  notified_at: number | null;
  /** When its cause ended; null while it lasts. */
  gone_at: number | null;
}

/** An erased entity. */
export interface ErasureTable {
  /** HMAC-SHA-256 of the entity id, hex; see erasures.ts. */
  digest: string;
  /** The digest of the requested entity: its own, or for a production unit its company's. */
  erased_with: string;
  begun_at: number;
  /** Null while in progress. */
  done_at: number | null;
  /** JSON of what is still to be erased; null when done. */
  rest: string | null;
}

/** A person who may use the dashboard. */
export interface OperatorTable {
  name: string;
  role: 'viewer' | 'operator' | 'admin';
  /** SHA-256 of the token, base64url. */
  token_hash: string;
  created_at: number;
  revoked_at: number | null;
  /** Issuer and subject of a single sign-on; null for operators with a token. */
  subject: string | null;
}

/** One sign-in of an operator in one browser. */
export interface SessionTable {
  /** SHA-256 of the id that the browser's cookie holds, base64url. */
  hash: string;
  operator: string;
  /** The browser's name for itself, cut. */
  agent: string;
  created_at: number;
  /** The last request, to the minute. */
  seen_at: number;
  /** When it ends even if it is used. */
  ends_at: number;
}

/** A link that signs an operator in once. */
export interface LoginLinkTable {
  hash: string;
  operator: string;
  ends_at: number;
}

/** A single sign-on that began in a browser and may end there once. */
export interface SignOnTable {
  /** SHA-256 of the secret in the browser's cookie and the state, base64url. */
  hash: string;
  nonce: string;
  /** The `code_verifier` of PKCE. */
  verifier: string;
  /** The path to continue with. */
  next: string;
  /** The packed fields of an interrupted form; null if there was none. */
  kept: string | null;
  ends_at: number;
}

/** An action of a person, or an attempt at one. */
export interface AuditTable {
  id: Generated<number>;
  at: number;
  actor_kind: 'operator' | 'key' | 'user' | 'stranger' | 'sender';
  actor: string;
  via: 'page' | 'command' | 'api';
  /** The action, such as `operator.create`. */
  action: string;
  /** The subject: a connection, a record, an entity, an operator; null if there is no single one. */
  subject: string | null;
  /** JSON without secrets; null without details. */
  detail: string | null;
  /** The result, in words. */
  result: string;
}

/** Work that the daemon does for a person: first a preview, then the work itself if the person confirms. */
export interface RunTable {
  id: Generated<number>;
  /** The name of its queue. */
  task: string;
  /** JSON of the input. */
  input: string;
  stage: 'preview' | 'run';
  /** The state of the stage. */
  state: 'waiting' | 'running' | 'done' | 'cancelled' | 'failed';
  /** Who requested the stage. */
  actor_kind: AuditTable['actor_kind'];
  actor: string;
  via: AuditTable['via'];
  created_at: number;
  /** When the confirmed preview ended. */
  previewed_at: number | null;
  confirmed_at: number | null;
  /** When the daemon began the stage. */
  started_at: number | null;
  ended_at: number | null;
  /** The number done of `total`. */
  done: number;
  /** Null while unknown. */
  total: number | null;
  /** JSON: how many items it has of each kind. */
  counts: Generated<string>;
  error: string | null;
}

/** The result of one item in a run, or its expected result in a preview. */
interface RunItemTable {
  run: number;
  /** Identifies the item within its run. */
  key: string;
  kind: string;
  /** JSON. */
  detail: string;
}

/** Counts of a kind in an hour or a day, for charts. Holds nothing about companies or persons. */
interface ActivityTable {
  span: 'hour' | 'day';
  kind: ActivityKind;
  /** A connection; empty for the installation. */
  subject: string;
  /** When the span began, in ms since 1970. */
  at: number;
  count: number;
}

/**
 * `written`, `kept`, `undone` and `refused` count properties, `received` webhooks, `sent` and `failed` attempts to deliver. The others
 * are states as last seen in the span: the records of a connection (`linked`), how many of them differ, are held or fail,
 * and how many seconds the register is behind.
 */
export type ActivityKind =
  | 'written'
  | 'kept'
  | 'undone'
  | 'refused'
  | 'received'
  | 'sent'
  | 'failed'
  | 'linked'
  | 'differing'
  | 'left'
  | 'failing'
  | 'behind';

export interface RuntimeSchema {
  activity: ActivityTable;
  lane: LaneTable;
  pending_write: PendingWriteTable;
  rate_limit: RateLimitTable;
  call_window: CallWindowTable;
  daemon: DaemonTable;
  config_version: ConfigVersionTable;
  kv: KvTable;
  quarantine: QuarantineTable;
  alert: AlertTable;
  erasure: ErasureTable;
  operator: OperatorTable;
  session: SessionTable;
  login_link: LoginLinkTable;
  sign_on: SignOnTable;
  audit: AuditTable;
  run: RunTable;
  run_item: RunItemTable;
}
