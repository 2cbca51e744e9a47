import { expect, it } from 'vitest';
import { pruneOlder } from '../../../src/runtime/housekeeping/prune.ts';
import { recordAudit } from '../../../src/runtime/operators/audit.ts';
import { newStore } from '../../support/stores.ts';

const entry = {
  actor: { kind: 'operator', name: 'Ida' },
  via: 'page',
  action: 'record.hold',
  subject: 'hubspot:1',
  result: 'held',
} as const;

/** The times that are left of these after all before 10 were pruned, a row a step. */
async function leftOf(times: readonly number[]): Promise<readonly number[]> {
  const store = await newStore('sqlite');
  await store.write(async (tx) => {
    for (const at of times) await recordAudit(tx, entry, at);
  });
  const prune = pruneOlder({ table: 'audit', key: 'id', at: 'at', limit: 1 });
  await prune(store, new AbortController().signal, 10);
  const rows = await store.db.selectFrom('audit').select('at').orderBy('id').execute();
  return rows.map(({ at }) => at);
}

it('pruning follows the key while it finds old rows, and looks twenty steps further', async () => {
  const [old, young] = [Array.from({ length: 30 }, () => 1), Array.from({ length: 19 }, () => 10)];
  expect(await leftOf([...old, ...young, 1])).toEqual(young);
  expect(await leftOf([...old, ...young, 10, 1])).toEqual([...young, 10, 1]);
});
