/** One invented company for the fault tests, the webhooks about it, and the properties of both CRMs for its name. */
import type { Updates, Writable } from '../../src/protocol/payload.ts';

export const ENTITY = 'CVR-1-95012353';
export const OTHER = 'CVR-1-95023452';

/** A webhook about the company; `hour` orders it among the others. */
export const reported = (updates: Updates, hour: number, entityId: string = ENTITY): Writable => ({
  entityId,
  timestamp: new Date(Date.UTC(2026, 2, 2, hour)).toISOString(),
  updates,
});

/** The company changed its name. */
export const renamed = (before: string | null, after: string | null, hour = 8, entityId: string = ENTITY): Writable =>
  reported({ name: { before, after } }, hour, entityId);

/** What differs between the CRMs for one test that both must pass. `own` is written always, `name` is tracked. */
export const CRMS = [
  { crm: 'hubspot', name: 'name', own: 'cvr_name', read: 'POST .*/batch/read$', write: 'POST .*/batch/update$' },
  {
    crm: 'salesforce',
    name: 'Name',
    own: 'CVR_Name__c',
    read: 'POST .*/composite/sobjects/Account$',
    write: 'POST .*/composite$',
  },
] as const;
