/** What `check` says: each half has its own findings, and one table shows them. */

/** `warn`: works, but something is missing or will be set aside; `fail`: does not work until somebody acts. */
export type Level = 'ok' | 'info' | 'warn' | 'fail';

/** One thing `check` found, and what to do about it. */
export interface Finding {
  readonly level: Level;
  /** What it is about: `hubspot`, `hubspot name → cvr_name`. */
  readonly subject: string;
  readonly found: string;
  readonly advice?: string;
}

export type Findings = readonly Finding[];
