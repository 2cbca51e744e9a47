/** A change: one difference that the service found for one entity. */
import type { Updates } from '../../protocol/payload.ts';

/** The source of a change. `state`: a requested full state. `monitor`: a change of the monitor's list. */
export type ChangeKind = 'register' | 'state' | 'monitor' | 'article' | 'report';

export interface Change {
  /** Natural id: a difference that is found again after a crash or in a repeated document gets the same id. */
  readonly id: string;
  /** A company, or a person whose relations changed. */
  readonly entity: string;
  readonly name: string;
  readonly kind: ChangeKind;
  /** The register's time, ISO 8601 UTC with milliseconds. */
  readonly timestamp: string;
  readonly updates: Updates;
  /**
   * Shares before the change, for news and mail; payloads have no field for them. Keys: the entity id of a legal
   * owner; `trueOwnership <id>` and `trueVoteRights <id>` of a beneficial owner, who can be both. In a person's
   * change the company takes the owner's place.
   */
  readonly formerShares?: Readonly<Record<string, string>>;
  /** The one monitor that gets a change about itself, whatever its target. */
  readonly only?: string;
}

/** Monitors of all companies get no changes of persons. */
export const isCompany = (entity: string): boolean => entity.startsWith('CVR-1-');
