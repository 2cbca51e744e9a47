/** HubSpot under the suite that every provider passes. */

import { hubspot } from '../../../providers/hubspot/provider.ts';
import { startHubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';
import { describeConformance } from '../conforms.ts';

const TOKEN = 'pat-eu1-secret-of-the-contract';

const rate = (headers: Record<string, string>) => ({
  kind: 'status' as const,
  status: 429,
  headers,
  body: {
    status: 'error',
    message: 'You have reached your ten_secondly_rolling limit.',
    errorType: 'RATE_LIMIT',
    policyName: 'TEN_SECONDLY_ROLLING',
  },
});

for (const apiVersion of ['2026-09', 'v3']) {
  describeConformance(`HubSpot ${apiVersion}`, {
    provider: hubspot,
    module: new URL('../../../providers/hubspot/provider.ts', import.meta.url).href,
    start: async () => {
      const properties = [{ name: 'share', type: 'number', numberDisplayHint: 'percentage' }] as const;
      const emulator = await startHubspotEmulator({ rate: 'none', searchRate: 'none', token: TOKEN, properties });
      return { ...emulator, settings: { ...emulator.settings, apiVersion } };
    },
    secrets: [TOKEN],
    properties: {
      text: 'name',
      long: 'description',
      number: 'numberofemployees',
      choice: 'industry',
      date: 'cvr_start_date',
      datetime: 'cvr_changed_at',
      boolean: 'cvr_advertising_protected',
      amount: 'annualrevenue',
      fraction: 'share',
      site: 'website',
    },
    refused: { property: 'industry', value: 'BEEKEEPING' },
    readOnly: 'hs_lastmodifieddate',
    absentId: '8000000001',
    calls: {
      read: 'POST .*/batch/read',
      update: 'POST .*/batch/update',
      create: 'POST .*/companies$|POST .*/0-2$',
      search: '/search$',
    },
    answers: {
      unauthorized: {
        kind: 'status',
        status: 401,
        body: { status: 'error', message: `bad token ${TOKEN}`, category: 'INVALID_AUTHENTICATION' },
      },
      forbidden: {
        kind: 'status',
        status: 403,
        body: { status: 'error', message: 'This app lacks a scope', category: 'MISSING_SCOPES' },
      },
      rate: rate({}),
      rateWithRetryAfter: rate({ 'retry-after': '7' }),
    },
  });
}
