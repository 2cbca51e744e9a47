/** What an answer that says how few calls remain does to the pace. */
import { expect, it, onTestFinished } from 'vitest';
import { serveEmulator } from '../../../providers/emulator.ts';
import type { ProviderContext } from '../../../providers/provider.ts';
import { newStore } from '../../support/stores.ts';
import { openToyCrm } from '../../support/toy-crm.ts';

/** The part of the budget's window in which no call is made after an answer that leaves so many. */
async function partLeftAlone(remaining: number): Promise<number> {
  const store = await newStore('sqlite');
  const { url, close } = await serveEmulator(() => ({ status: 204 }));
  onTestFinished(close);
  const lent = Promise.withResolvers<ProviderContext>();
  const none = async () => [];
  const now = () => 1_000_000;
  await openToyCrm({
    store,
    now,
    observe: () => ({ remaining }),
    connect(all) {
      lent.resolve(all);
      const check = async () => ({ id: '1', name: 'x', notes: [] });
      return { check, properties: none, read: none, update: none, scan: async () => ({ records: [] }) };
    },
  });
  const { http } = await lent.promise;
  await http({ method: 'GET', url, signal: new AbortController().signal });
  const row = await store.db
    .selectFrom('rate_limit')
    .select('next_at')
    .where('key', '=', 'crm/default')
    .executeTakeFirst();
  return Number((((row?.next_at ?? 0) - now()) / 1_000).toFixed(2));
}

it('leaves a budget alone for a tenth of its window where others took the last call, and hardly where one is left', async () => {
  expect(await partLeftAlone(0)).toBe(0.1);
  expect(await partLeftAlone(1)).toBe(0.02);
  expect(await partLeftAlone(2)).toBe(0);
});
