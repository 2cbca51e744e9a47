/** A change: one difference that the service found for one entity. */
import type { Updates } from '../../protocol/payload.ts';

/**
 * Where a change comes from: the register's documents, a full state that a caller asked for, a monitor's list, a news
 * source, a filed report.
 */
export type ChangeKind = 'register' | 'state' | 'monitor' | 'article' | 'report';

export interface Change {
  /** Natural id: a difference that is found again, after a crash or in a repeated document, gets the same id. */
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
   * Share text before the change, for news and mail; payloads have no place for it. A legal owner's stands under its
   * entity id, a beneficial one's (who can be both) under `trueOwnership <id>` and `trueVoteRights <id>`. In a person's
   * change the company stands for the owner.
   */
  readonly formerShares?: Readonly<Record<string, string>>;
  /** The one monitor that gets it, whatever its target; for changes that concern a monitor itself. */
  readonly only?: string;
}

/** Whether an entity id is a company's: monitors of all companies get no changes of persons. */
export const isCompany = (entity: string): boolean => entity.startsWith('CVR-1-');
