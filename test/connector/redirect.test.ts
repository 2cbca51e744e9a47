/** A CRM that answers for a merged record with a redirect: its provider sees where it leads, and nobody follows. */
import Type from 'typebox';
import { expect, it, onTestFinished } from 'vitest';
import { serveEmulator } from '../../providers/emulator.ts';
import { CONTRACT_VERSION, defineProvider } from '../../providers/provider.ts';
import { openCrm } from '../../src/connector/crm.ts';
import { openClient } from '../../src/http/client.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { newStore } from '../support/stores.ts';

it('is told by its provider as moved', async () => {
  const { url, close, calls } = await serveEmulator(() => ({ status: 301, headers: { location: '/companies/8' } }));
  onTestFinished(close);
  const client = openClient();
  onTestFinished(client.close);
  const provider = defineProvider({
    name: 'merging',
    contract: CONTRACT_VERSION,
    about: 'a CRM that redirects',
    settings: Type.Object({}),
    preset: [],
    limits: () => ({
      batch: { read: 1, update: 1 },
      concurrency: 1,
      budgets: { default: { calls: 100, perMs: 1_000 } },
    }),
    connect: async (_settings, { http }) => ({
      check: async () => ({ id: '1', name: 'A CRM', notes: [] }),
      properties: async () => [],
      read: async ([id = ''], _names, signal) => {
        const { headers } = await http({ method: 'GET', url: `${url}/companies/${id}`, signal, showRedirects: true });
        return [{ kind: 'moved', id, to: headers['location']?.split('/').at(-1) ?? '' }];
      },
      update: async () => [],
      scan: async () => ({ records: [] }),
    }),
  });
  const store = await newStore('sqlite');
  const crm = await openCrm(
    { store, http: client.http, metrics: createMetrics(), now: Date.now },
    {
      name: 'crm',
      provider,
      settings: {},
      match: undefined,
      policy: 'tracked',
      mapping: [],
      values: {},
      hold: undefined,
      notes: [],
      autoLink: false,
      persons: false,
      parent: false,
      pollMinutes: 0,
      reconcileHours: 0,
    },
  );
  expect(await crm.connection.read(['7'], [], new AbortController().signal)).toEqual([
    { kind: 'moved', id: '7', to: '8' },
  ]);
  expect(calls.map(({ path }) => path)).toEqual(['/companies/7']);
});
