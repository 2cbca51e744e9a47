/** What the pages of companies stand on. */
import type { Crm } from '../../connector/crm/crm.ts';
import type { WireOptions } from '../../protocol/payload.ts';
import type { RouteDeps } from '../routes/routes.ts';

/** What they read from. */
export interface CompanyDeps extends RouteDeps, WireOptions {
  readonly crms: readonly Crm[];
  /** Whether a monitoring service is configured. */
  readonly hasUpstream: boolean;
}

/** A page does not wait longer for a CRM, and is there within 3 s. */
export const CRM_LIMIT_MS = 2_500;
