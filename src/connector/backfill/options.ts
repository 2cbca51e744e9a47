/** What a run asks of a backfill. */
import type { BackfillProgress } from './rows/progress.ts';

/** The run, and what it is to do: `scan` makes a plan, `apply` goes on with one that was confirmed. */
export interface BackfillOptions {
  readonly run: number;
  readonly kind: 'scan' | 'apply';
  /** The plan that the caller saw, by `planRevision`: if another one is there by now, nothing is done. */
  readonly revision: string;
  /** Whether a scan that was stopped goes on, in place of a new one. */
  readonly goesOn: boolean;
  /** Of a scan: what its plan is applied with where its apply says nothing else. Absent: as the scan that goes on. */
  readonly trust?: BackfillProgress['trust'] | undefined;
  readonly sendUpdate?: boolean | undefined;
}
