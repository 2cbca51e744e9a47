import type { Crm } from '../../connector/crm/crm.ts';
import type { WireOptions } from '../../protocol/payload.ts';
import type { RouteDeps } from '../routes/routes.ts';

export interface CompanyDeps extends RouteDeps, WireOptions {
  readonly crms: readonly Crm[];
  readonly hasUpstream: boolean;
}

/** How long a page waits for a CRM: the page must load within 3 s. */
export const CRM_LIMIT_MS = 2_500;
