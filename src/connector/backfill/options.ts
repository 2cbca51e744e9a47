/** What a backfill is to do. */
import type { BackfillProgress } from './rows/progress.ts';

/** What a person asked for on a page, to be done by the daemon. */
export interface PageRequest {
  /** The run of the page. */
  readonly run: number;
  /** The plan that the person saw, by `planRevision`: if another one is there by now, nothing is done. */
  readonly revision: string;
  /** Whether a scan that was stopped goes on, in place of a new one. */
  readonly goesOn: boolean;
}

/** What a command or a page asks for. */
export interface BackfillOptions {
  /**
   * `poll` only scans and decides, `plan` also writes a file, `apply` links what the scan found, `file` what a plan says,
   * `stored` the plan that people confirmed on a page.
   */
  readonly mode:
    | { readonly kind: 'poll' | 'apply' | 'stored' }
    | { readonly kind: 'plan' | 'file'; readonly file: string };
  /** Links at most so many now; the next start continues. */
  readonly limit?: number | undefined;
  readonly sendUpdate: boolean;
  /** A plan of a match: records that are linked get the company's number, where they hold none. */
  readonly writesNumber?: boolean;
  /** Absent: as the run that it continues, else `crm`. */
  readonly trust?: BackfillProgress['trust'] | undefined;
  readonly restart: boolean;
  /** A person confirmed the plan file in spite of its warnings. */
  readonly meant?: boolean;
  /** What a page asked for; absent for a command. */
  readonly page?: PageRequest;
  /** Confirms the linking of records that nobody has seen in a plan; absent: confirmed. A no leaves them planned. */
  readonly mayLink?: (count: number) => Promise<boolean>;
}
