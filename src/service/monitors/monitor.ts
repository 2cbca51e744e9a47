/**
 * Which events of which entities go to which webhook and recipients. A third-party job is a monitor with a provider.
 */
import type { Credentials } from '../../protocol/auth.ts';
import type { EventName } from '../../protocol/events.ts';

export type { Credentials };

/** The part of a monitor that the store holds encrypted. */
export interface Security {
  /** What the webhook requires in addition to the signature that every post carries. */
  readonly credentials: Credentials;
  /** Signing secrets `whsec_…`, newest first; each that has not expired signs every post. */
  readonly secrets: readonly { readonly secret: string; readonly expiresAt: number | null }[];
}

export interface Monitor {
  /** GUID; the JobId of a third-party job. */
  readonly id: string;
  readonly name: string;
  /** The API key that owns it; null for the operators. */
  readonly owner: string | null;
  /** The {Provider} of a third-party job. */
  readonly provider: string | null;
  /** `all`: every company. `items`: the companies and persons in its list. */
  readonly target: 'all' | 'items';
  /** Null: all. */
  readonly events: readonly EventName[] | null;
  readonly url: string | null;
  readonly security: Security;
  /** Seconds before each attempt; null for the configured ones. */
  readonly schedule: readonly number[] | null;
  /** The most posts to its webhook in a minute; null: no limit. */
  readonly postsPerMinute: number | null;
  readonly emails: readonly string[];
  readonly mailFrequency: 'immediate' | 'daily';
  readonly enabled: boolean;
  /** Null while it is inactive, that is, was never enabled: the service then stores nothing for it. */
  readonly enabledAt: number | null;
  readonly disabledReason: 'person' | 'failing' | 'gone' | null;
  readonly disabledAt: number | null;
  readonly failingSince: number | null;
  readonly failedAttempts: number;
  /** Sum of the notices that went out since `failingSince`: see NOTICES in health.ts. */
  readonly notices: number;
  readonly createdAt: number;
}
