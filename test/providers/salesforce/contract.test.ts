/** Salesforce under the suite all CRMs share. */

import { startSalesforceEmulator } from '../../../providers/salesforce/emulator/emulator.ts';
import { to18 } from '../../../providers/salesforce/ids.ts';
import { salesforce } from '../../../providers/salesforce/provider.ts';
import { describeContract } from '../contract.ts';
import { settingsOf } from './setup.ts';

const limit = [{ message: 'ConcurrentPerOrgLongTxn Limit exceeded.', errorCode: 'REQUEST_LIMIT_EXCEEDED' }];

describeContract(
  'salesforce',
  async ({ http }) => {
    const emulator = await startSalesforceEmulator();
    const kept = new Map<string, string>();
    const keep = {
      get: async (key: string) => kept.get(key),
      set: async (key: string, value: string) => void kept.set(key, value),
    };
    return {
      emulator,
      connection: await salesforce.connect(settingsOf({ ...emulator.settings }), { http, keep, now: Date.now }),
      secrets: emulator.secrets,
      properties: { text: 'Name', long: 'Description', number: 'CVR_Employees__c' },
      company: { Name: 'Emulated ApS' },
      refused: { property: 'CVR_Email__c', value: 'no address' },
      calls: { read: 'POST .*/composite/sobjects/Account', update: 'PATCH .*/composite/sobjects' },
      answers: {
        unauthorized: {
          kind: 'status',
          status: 401,
          body: [{ message: 'Session expired or invalid', errorCode: 'INVALID_SESSION_ID' }],
        },
        rate: { kind: 'status', status: 403, body: limit },
        rateWithRetryAfter: { kind: 'status', status: 403, body: limit, headers: { 'retry-after': '7' } },
      },
    };
  },
  to18('001Qy0100000zzz'),
);
