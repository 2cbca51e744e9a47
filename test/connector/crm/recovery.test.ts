/** What an answer that says how few calls remain does to the pace. */
import { expect, it } from 'vitest';
import { newStore } from '../../support/stores.ts';
import { guardedCalls } from '../../support/toy-crm.ts';

/** The part of the budget's window in which no call is made after an answer that leaves so many. */
async function partLeftAlone(remaining: number): Promise<number> {
  const store = await newStore('sqlite');
  const now = () => 1_000_000;
  const { call } = await guardedCalls(store, { now, observe: () => ({ remaining }) });
  await call(new AbortController().signal);
  const row = await store.db
    .selectFrom('rate_limit')
    .select('next_at')
    .where('key', '=', 'crm/default')
    .executeTakeFirst();
  return Number((((row?.next_at ?? 0) - now()) / 1_000).toFixed(2));
}

it('pauses a budget for a tenth of its window if others used the last call, and hardly if one is left', async () => {
  expect(await partLeftAlone(0)).toBe(0.1);
  expect(await partLeftAlone(1)).toBe(0.02);
  expect(await partLeftAlone(2)).toBe(0);
});
