/** A CRM that answers for a merged record with a redirect: its provider sees where it leads, and nobody follows. */
import { expect, it, onTestFinished } from 'vitest';
import { serveEmulator } from '../../providers/kit/emulator/emulator.ts';
import { newStore } from '../support/stores.ts';
import { openToyCrm } from '../support/toy-crm.ts';

it('a redirect of a merged record is reported by its provider as moved', async () => {
  const { url, close, calls } = await serveEmulator(() => ({ status: 301, headers: { location: '/companies/8' } }));
  onTestFinished(close);
  const crm = await openToyCrm({
    store: await newStore('sqlite'),
    now: Date.now,
    connect: ({ http }) => ({
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
  expect(await crm.connection.read(['7'], [], new AbortController().signal)).toEqual([
    { kind: 'moved', id: '7', to: '8' },
  ]);
  expect(calls.map(({ path }) => path)).toEqual(['/companies/7']);
});
