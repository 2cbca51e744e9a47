import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openStore } from '../../src/store/engines/open.ts';
import { emptyStoreUrl } from '../support/stores.ts';

it('a table keeps millions of snapshots in little more space than their length', async () => {
  const url = await emptyStoreUrl('sqlite');
  const store = await openStore(url);
  const body = 'x'.repeat(1_500);
  const rows = Array.from({ length: 1_000 }, (_, at) => {
    return { entity: `CVR-2-${1_000_000_000 + at}`, body, digest: 'd'.repeat(43), loaded_at: 't', updated_at: 1 };
  });
  await store.checkpoint();
  const before = statSync(url).size;
  await store.write(async (tx) => {
    for (const row of rows) await tx.insertInto('snapshot').values(row).execute();
  });
  await store.checkpoint();
  const perRow = (statSync(url).size - before) / rows.length;
  await store.close();
  expect(perRow).toBeLessThan(2_500);
});
