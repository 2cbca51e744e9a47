/** The table of the daemons that run on the store. */

/** A daemon that runs on the store. */
export interface DaemonTable {
  id: string;
  /** Host and process, for people. */
  name: string;
  started_at: number;
  /** Its last heartbeat. */
  seen_at: number;
  /** JSON: digests of the parts of its configuration, by half. */
  digests: string;
}
