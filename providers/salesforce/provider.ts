import { CONTRACT_VERSION, defineProvider } from '../provider.ts';
import { observe } from './client/errors.ts';
import { canonicalId, idInAddress, recordAddress } from './client/ids.ts';
import { SalesforceSettings } from './client/salesforce-settings.ts';
import { connectSalesforce } from './connection.ts';
import { salesforcePreset } from './preset.ts';
import { definitions } from './write/custom-fields.ts';

/** Salesforce accounts, through the REST API. Importing it loads no client and opens nothing. */
export const salesforce = defineProvider({
  name: 'salesforce',
  contract: CONTRACT_VERSION,
  about: 'Salesforce: accounts of one org',
  settings: SalesforceSettings,
  preset: salesforcePreset,
  definitions,
  limits: ({ rate, concurrency }) => ({
    // https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/resources_composite_sobjects_collections.htm
    batch: { read: 200, update: 200 },
    concurrency,
    budgets: { default: { calls: rate.calls, perMs: rate.perSeconds * 1_000 } },
  }),
  observe,
  canonicalId,
  idInAddress,
  recordAddress,
  connect: connectSalesforce,
});
