/** `warn`: works, but something is missing or will be ignored; `fail`: does not work until somebody acts. */
export type Level = 'ok' | 'info' | 'warn' | 'fail';

export interface Finding {
  readonly level: Level;
  /** What it is about: `hubspot`, `hubspot name → cvr_name`. */
  readonly subject: string;
  readonly found: string;
  readonly advice?: string;
}

export type Findings = readonly Finding[];
