/** What the service found and tells: one detected difference for one entity. */
import type { Updates } from '../../protocol/payload.ts';

/**
 * Where a change comes from: the register's documents, a whole state that was asked for, a monitor's list, a news
 * source, a filed report.
 */
export type ChangeKind = 'register' | 'state' | 'monitor' | 'article' | 'report';

export interface Change {
  /** Natural id: the same difference found again, after a crash or from a document that came twice, has the same. */
  readonly id: string;
  /** Canonical entity id: a company, or a person whose relations changed. */
  readonly entity: string;
  readonly name: string;
  readonly kind: ChangeKind;
  /** The register's time, ISO 8601 UTC with milliseconds. */
  readonly timestamp: string;
  /** At least one event. */
  readonly updates: Updates;
  /**
   * Share text before the change: the wire has no place for it, news and mail do. A legal owner's stands under its
   * entity id, a beneficial one's (who can be both) under `trueOwnership <id>` and `trueVoteRights <id>`. In a person's
   * change the company stands for the owner.
   */
  readonly formerShares?: Readonly<Record<string, string>>;
  /** The one monitor it is told to, whatever that one's target; for what concerns a monitor itself. */
  readonly only?: string;
}
