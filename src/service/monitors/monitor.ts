/** A monitor: who is told of what, and how the webhook is proven. A third-party job is one with a provider. */
import type { Credentials } from '../../protocol/auth.ts';
import type { EventName } from '../../protocol/events.ts';

export type { Credentials };

/** What is sealed in the store. */
export interface Security {
  /** What the webhook asks for, beside the signature that every post carries. */
  readonly credentials: Credentials;
  /** Signing secrets `whsec_…`, newest first; every post is signed by each that has not expired. */
  readonly secrets: readonly { readonly secret: string; readonly expiresAt: number | null }[];
}

export interface Monitor {
  /** GUID; the JobId of a third-party job. */
  readonly id: string;
  readonly name: string;
  /** The API key that owns it; null for the operators'. */
  readonly owner: string | null;
  /** The {Provider} of a third-party job. */
  readonly provider: string | null;
  /** `all`: every company. `items`: the companies and persons in its list. */
  readonly target: 'all' | 'items';
  /** Null for all. */
  readonly events: readonly EventName[] | null;
  readonly url: string | null;
  readonly security: Security;
  /** Seconds before each attempt; null for the configured ones. */
  readonly schedule: readonly number[] | null;
  readonly emails: readonly string[];
  readonly mailFrequency: 'immediate' | 'daily';
  readonly enabled: boolean;
  /** Null where it was never activated: what happens is then not kept for it. */
  readonly enabledAt: number | null;
  readonly disabledReason: 'person' | 'failing' | 'gone' | null;
  readonly disabledAt: number | null;
  readonly failingSince: number | null;
  readonly failedAttempts: number;
  /** Which notices went out since it began to fail, as a sum: 1 at the first failed delivery, 2 half-way, 4 disabled. */
  readonly notices: number;
  readonly createdAt: number;
}
