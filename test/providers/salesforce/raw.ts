/** Calls to an emulated org past the provider: what Salesforce itself would answer. */
import { onTestFinished } from 'vitest';
import { startSalesforceEmulator } from '../../../providers/kit/salesforce/emulator.ts';
import type { SalesforceEmulatorOptions } from '../../../providers/kit/salesforce/org/org.ts';
import { objectOf } from '../../../providers/salesforce/client/json.ts';

/** Starts an org and fetches a session. */
export async function openApi(options: SalesforceEmulatorOptions = {}) {
  const emulator = await startSalesforceEmulator(options);
  onTestFinished(() => emulator.close());
  return { emulator, ...(await callApi(emulator.url)) };
}

/** Fetches a session of an org that is open already. */
export async function callApi(url: string) {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: '3MVG9.emulator.client',
    client_secret: 'emulator-client-secret',
  });
  const granted = await fetch(`${url}/services/oauth2/token`, { method: 'POST', body: form });
  const token = String(objectOf(await granted.json())?.access_token);
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${url}/services/data/v67.0${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      json: text.startsWith('<') || text === '' ? text : JSON.parse(text),
    };
  };
  const query = (soql: string, verb = 'query') => call('GET', `/${verb}?q=${encodeURIComponent(soql)}`);
  return { token, call, query };
}

/** Status and code of an answer. */
export const code = ({ status, json }: { status: number; json: unknown }) => [
  status,
  objectOf(Array.isArray(json) ? json[0] : json)?.errorCode,
];
