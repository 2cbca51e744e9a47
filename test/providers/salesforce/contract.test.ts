/** Salesforce under the suite that every provider passes. */

import { startSalesforceEmulator } from '../../../providers/kit/salesforce/emulator.ts';
import { toLongId } from '../../../providers/salesforce/client/ids.ts';
import { salesforce } from '../../../providers/salesforce/provider.ts';
import { describeConformance } from '../conforms.ts';

const limit = [{ message: 'ConcurrentPerOrgLongTxn Limit exceeded.', errorCode: 'REQUEST_LIMIT_EXCEEDED' }];
// The secrets are the same in every org that is emulated from the same seed.
const probe = await startSalesforceEmulator();
const { secrets } = probe;
await probe.close();

describeConformance('salesforce', {
  provider: salesforce,
  module: new URL('../../../providers/salesforce/provider.ts', import.meta.url).href,
  start: () => startSalesforceEmulator({ trackedFields: ['Name'], currencies: ['DKK', 'EUR'] }),
  secrets,
  properties: {
    text: 'Name',
    long: 'Description',
    number: 'CVR_Employees__c',
    date: 'CVR_Start_Date__c',
    datetime: 'CVR_Changed_At__c',
    boolean: 'CVR_Advertising_Protected__c',
    amount: 'AnnualRevenue',
  },
  company: { Name: 'Emulated ApS' },
  refused: { property: 'CVR_Email__c', value: 'no address' },
  readOnly: 'LastModifiedDate',
  absentId: toLongId('001Qy0100000zzz'),
  calls: {
    read: 'POST .*/composite/sobjects/Account',
    update: 'POST .*/composite$',
    create: 'POST .*/sobjects/Account$',
  },
  answers: {
    unauthorized: {
      kind: 'status',
      status: 401,
      body: [{ message: 'Session expired or invalid', errorCode: 'INVALID_SESSION_ID' }],
    },
    forbidden: {
      kind: 'status',
      status: 403,
      body: [{ message: 'The REST API is not enabled for this Organization.', errorCode: 'API_DISABLED_FOR_ORG' }],
    },
    rate: { kind: 'status', status: 403, body: limit },
    rateWithRetryAfter: { kind: 'status', status: 403, body: limit, headers: { 'retry-after': '7' } },
  },
});
