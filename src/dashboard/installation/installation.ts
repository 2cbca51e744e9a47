/** What the page and the support bundle tell of an installation. */
import type { Findings } from '../../runtime/finding.ts';

export interface Installation {
  readonly version: string;
  /** When this process started, ms since 1970. */
  readonly startedAt: number;
  /** The configuration in force, secrets masked. */
  shownConfig(): object;
  /** A text in which the secrets of the configuration are masked. */
  mask(text: string): string;
  /** What `check` finds without a call to anybody. */
  quickFindings(): Promise<Findings>;
  /** All that `check` finds; what does not answer before the signal aborts is a finding too. */
  allFindings(signal: AbortSignal): Promise<Findings>;
}
