/** What the page and the support bundle show of an installation. */
import type { Findings } from '../../runtime/finding.ts';

export interface Installation {
  readonly version: string;
  /** When this process started. */
  readonly startedAt: number;
  /** The configuration in force, secrets masked. */
  shownConfig(): object;
  /** Masks the secrets of the configuration in a text. */
  mask(text: string): string;
  /** The findings of `check` that need no call. */
  quickFindings(): Promise<Findings>;
  /** All findings of `check`. A missing answer when the signal aborts is a finding too. */
  allFindings(signal: AbortSignal): Promise<Findings>;
}
