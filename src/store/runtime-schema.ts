/** The tables of the runtime: lanes, and the daemons that work on them. */
import type { Generated } from 'kysely';

/** Something that may be behind. The row exists exactly while it is. */
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
}
