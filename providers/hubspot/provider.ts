import { CONTRACT_VERSION, defineProvider } from '../provider.ts';
import { canonicalId, idInAddress, recordAddress } from './client/batch.ts';
import { observe } from './client/faults.ts';
import { HubspotSettings } from './client/hubspot-settings.ts';
import { connectHubspot } from './connection.ts';
import { hubspotPreset } from './preset.ts';
import { readWebhook } from './read/webhook.ts';
import { HUBSPOT_DEFINITIONS } from './write/custom-properties.ts';

/** HubSpot companies, through the CRM API. Importing it loads no client and opens nothing. */
export const hubspot = defineProvider({
  name: 'hubspot',
  contract: CONTRACT_VERSION,
  about: 'HubSpot: companies of one account',
  settings: HubspotSettings,
  preset: hubspotPreset,
  definitions: HUBSPOT_DEFINITIONS,
  limits: ({ rate, concurrency }) => ({
    batch: { read: 100, update: 100 },
    concurrency,
    budgets: {
      default: { calls: rate.calls, perMs: rate.perSeconds * 1_000 },
      // HubSpot allows five a token in addition to the window above; one fewer, because a call late by 20 ms would fall
      // into the next second. https://developers.hubspot.com/docs/developer-tooling/platform/usage-guidelines
      search: { calls: 4, perMs: 1_000 },
    },
  }),
  observe,
  canonicalId,
  idInAddress,
  recordAddress,
  webhook: readWebhook,
  connect: connectHubspot,
});
