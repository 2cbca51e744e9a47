import { startHubspotEmulator } from '../../../providers/hubspot/emulator/emulator.ts';
import { describeContract } from '../contract.ts';
import { connectTo } from './setup.ts';

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
  describeContract(
    `HubSpot ${apiVersion}`,
    async ({ http }) => {
      const emulator = await startHubspotEmulator({ rate: 'none', token: TOKEN });
      return {
        emulator,
        connection: await connectTo({ ...emulator.settings, apiVersion }, http),
        secrets: [TOKEN],
        properties: { text: 'name', long: 'description', number: 'numberofemployees' },
        company: {},
        refused: { property: 'industry', value: 'BEEKEEPING' },
        calls: { read: 'POST .*/batch/read', update: 'POST .*/batch/update' },
        answers: {
          unauthorized: {
            kind: 'status',
            status: 401,
            body: { status: 'error', message: `bad token ${TOKEN}`, category: 'INVALID_AUTHENTICATION' },
          },
          rate: rate({}),
          rateWithRetryAfter: rate({ 'retry-after': '7' }),
        },
      };
    },
    '8000000001',
  );
}
