import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { DIFFERENCES } from '../../../src/connector/reconcile/differences.ts';
import { openStore } from '../../../src/store/engines/open.ts';
import { newStoreUrl } from '../../support/stores.ts';

test('no comparison reads all links for each record, which blocked the thread for half a minute with 100,000 of each', async () => {
  const store = await openStore(await newStoreUrl('sqlite'));
  onTestFinished(() => store.close());
  const steps: string[] = [];
  for (const { query } of Object.values(DIFFERENCES)) {
    const asked = query({ provider: 'hubspot', before: 1, autoLink: true, backfilling: false });
    if (asked === undefined) continue;
    const { rows } = await sql<{ detail: string }>`explain query plan ${asked}`.execute(store.db);
    steps.push(...rows.map(({ detail }) => detail));
  }
  const ofOthers = steps.filter((step) => /^SEARCH (other|twin) /.test(step));
  expect(ofOthers.length).toBeGreaterThan(2);
  for (const step of ofOthers) expect(step).toContain('entity=?');
});
