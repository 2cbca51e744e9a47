/** The tables of the runtime: lanes, what they are about to send and how fast, the daemons that work on them, and the operators who watch. */
import type { Generated } from 'kysely';

/** A keyed piece of work that may be behind. The row exists exactly while it is. */
export interface LaneTable {
  queue: string;
  key: string;
  /** When it may be claimed: now, or after a back-off. Null while parked. */
  due_at: number | null;
  /** The fence: a number unique to the claim that holds it, null while nobody does. */
  fence: number | null;
  /** When the claim that holds it ends unless it is renewed; null while nobody does. */
  lease_until: number | null;
  /** Marked while claimed: when it is due after this run. Null otherwise. */
  again_at: number | null;
  /** How often it was marked: a claim that sees the same number at settle time has seen everything. */
  marks: number;
  attempts: number;
  /** Since when it is behind without a success in between. */
  since: number;
  /** Claims in a row that were never settled: each ended with its process, or outlived its lease. */
  unended: Generated<number>;
  error: string | null;
  parked_at: number | null;
}

/** A write whose end is unknown: it may have arrived, or may still arrive. */
export interface PendingWriteTable {
  queue: string;
  key: string;
  /** The fencing token of the claim it was made under; 0 if its process told that no answer came. */
  fence: number;
  /** When it was begun. */
  at: number;
  /** JSON, in the words of the queue's worker. */
  detail: string;
  /** When its lane is to be marked next. */
  check_at: number;
  /** When its answer came, where its lane was another's by then; null if no answer did. */
  answered_at: number | null;
}

/** The next free slot of one account and budget, and until when nobody may call. */
export interface RateLimitTable {
  key: string;
  /** Ms since 1970 with a fraction: slots of a fast budget lie less than a millisecond apart. */
  next_at: number;
  blocked_until: number;
  reason: string | null;
  /** When the row of blocks that lasts until then began; null if none is. */
  blocked_since: number | null;
  /** Why: a fault of a provider, such as `auth`. */
  fault: string | null;
}

/** Calls of a limited minute. */
export interface CallWindowTable {
  /** What is limited, and whose calls. */
  key: string;
  /** When the minute began. */
  since: number;
  /** Calls that daemons took, made or not; over the limit if more was asked for. */
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
  /** JSON: digests of the parts of its configuration: of the connector, of the service. */
  digests: string;
  /** Its roles, with blanks between them. */
  roles: string;
}

/** A version of the accepted configuration: the newest one is in force. */
export interface ConfigVersionTable {
  id: Generated<number>;
  /** Of the whole. */
  digest: string;
  accepted_at: number;
  /** A person, or `first start`, `start` if nobody had to be asked. */
  accepted_by: string;
  /** JSON: the digest of each part, of secrets too. */
  digests: string;
  /** JSON: the parts, without secrets. */
  content: string;
}

/** A small value that outlives a restart: a cursor, a rotated token, the identity of the running daemon. */
export interface KvTable {
  key: string;
  value: string;
  updated_at: number;
}

/** The body of a webhook or register document that could not be used, cut to a cap. */
export interface QuarantineTable {
  id: Generated<number>;
  received_at: number;
  /** Who it came from: a sender of webhooks, or the register. */
  source: 'webhook' | 'register';
  /** The number of a register document, if known. */
  subject: string | null;
  reason: string;
  body: string;
}

/** An alert that went out through one channel, for as long as its cause lasts. */
export interface AlertTable {
  channel: string;
  key: string;
  what: string;
  since: number;
  /** Null if it was not told yet. */
  notified_at: number | null;
  /** Since when it is gone; null while it lasts. */
  gone_at: number | null;
}

/** An entity that a person had erased. */
export interface ErasureTable {
  /** HMAC-SHA-256 of the entity id, hex; see erasures.ts. */
  digest: string;
  /** The digest of the entity that was asked for: its own, or of a production unit its company's. */
  erased_with: string;
  begun_at: number;
  /** Null while it is under way. */
  done_at: number | null;
  /** JSON of whom and what is still looked for; null once it is done. */
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
  /** Issuer and subject of those who come through single sign-on; null for those with a token. */
  subject: string | null;
}

/** One sign-in of an operator in one browser. */
export interface SessionTable {
  /** SHA-256 of the id that the browser's cookie holds, base64url. */
  hash: string;
  operator: string;
  /** What the browser calls itself, cut. */
  agent: string;
  created_at: number;
  /** The last request, to the minute. */
  seen_at: number;
  /** When it ends, however much it is used. */
  ends_at: number;
}

/** A link that signs an operator in once. */
export interface LoginLinkTable {
  hash: string;
  operator: string;
  ends_at: number;
}

/** A single sign-on that began in a browser and may be finished there, once. */
export interface SignOnTable {
  /** SHA-256 of the secret in the browser's cookie and the state, base64url. */
  hash: string;
  nonce: string;
  /** Of PKCE. */
  verifier: string;
  /** The path of ours to go on with. */
  next: string;
  /** The fields of a form that was interrupted, packed; null if there was none. */
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
  /** What was done, such as `operator.create`. */
  action: string;
  /** What it was done to: a connection, a record, an entity, an operator; null if it was nothing single. */
  subject: string | null;
  /** JSON without secrets; null if there is no more to say. */
  detail: string | null;
  /** What came of it, in words. */
  result: string;
}

/** Work that the daemon does for a person: a preview first, then the work itself if the person asks. */
export interface RunTable {
  id: Generated<number>;
  /** What is run, as its queue is called. */
  task: string;
  /** JSON: on what. */
  input: string;
  stage: 'preview' | 'run';
  /** What becomes of the stage. */
  state: 'waiting' | 'running' | 'done' | 'cancelled' | 'failed';
  /** Who asked for the stage, and by what. */
  actor_kind: AuditTable['actor_kind'];
  actor: string;
  via: AuditTable['via'];
  created_at: number;
  /** When the preview ended that was confirmed. */
  previewed_at: number | null;
  confirmed_at: number | null;
  /** When the daemon began the stage. */
  started_at: number | null;
  ended_at: number | null;
  /** How many of `total` are done. */
  done: number;
  /** Null while that is not known. */
  total: number | null;
  error: string | null;
}

/** The result of one thing in a run, or its expected result in a preview. */
interface RunItemTable {
  run: number;
  /** Names the thing within its run. */
  key: string;
  kind: string;
  /** JSON. */
  detail: string;
}

/** How much of a kind happened in an hour or a day, for charts. Holds nothing about companies or persons. */
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
 * `written`, `kept` and `refused` count properties, `received` webhooks, `sent` and `failed` attempts to deliver. The others
 * are states as last seen in the span: the records of a connection (`linked`), those among them that differ, are left alone
 * or fail, and how many seconds the register is behind.
 */
export type ActivityKind =
  | 'written'
  | 'kept'
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
