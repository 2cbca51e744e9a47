/** Many records: what is compared is compared by the store, and in time that grows with their number. */

import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { ENGINES } from '../../support/stores.ts';
import { LINKED_AT, occurring, setComparison } from './comparison.ts';

const MANY = 20_000;
const PAGE = 2_000;

test.each(ENGINES)('twenty thousand records are compared, and their differences are found (%s)', async (engine) => {
  const fixture = await setComparison({ engine, crm: { autoLink: true } });
  const { store } = fixture;
  const series =
    engine === 'postgres'
      ? sql`generate_series(1, ${sql.lit(MANY)}) as n`
      : sql`(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${sql.lit(MANY)}) select n from s) as s`;
  await store.write((tx) =>
    sql`insert into link (provider, record_id, entity, state, desired, observed, send_update, synced_seq, origin, trust, created_at, updated_at)
      select 'crm', 'r' || n, 'CVR-1-' || (10000000 + n), 'active', 'on', 'on', 0, 0, 'number', 'crm',
        cast(${LINKED_AT} as bigint), cast(${LINKED_AT} as bigint) from ${series}`.execute(tx),
  );
  fixture.beforePage = (cursor) => {
    const from = Number(cursor ?? 1);
    const ids = Array.from({ length: Math.min(PAGE, MANY + 1 - from) }, (_, at) => from + at);
    // Each hundredth is not listed.
    const records = ids
      .filter((n) => n % 100 !== 0)
      .map((n) => ({ id: `r${n}`, properties: { cvr: String(10_000_000 + n) } }));
    return { records, ...(from + PAGE <= MANY && { cursor: String(from + PAGE) }) };
  };
  const upstream = {
    ...fixture.upstream,
    jobs: async () => [{ id: 'job', name: 'crm' }],
    async *items() {
      // Each thousandth, but for those that the CRM does not list.
      for (let n = 1; n <= MANY; n += 1)
        if (n % 1_000 !== 1) yield { entityId: `CVR-1-${10_000_000 + n}`, id: `r${n}` };
    },
  };
  const began = performance.now();
  const { found } = await fixture.reconcile({}, { upstream });
  expect(occurring(found)).toEqual({ absent: 200, unmonitored: 20 });
  expect(await fixture.lanes('heal:crm')).toHaveLength(200);
  expect(performance.now() - began).toBeLessThan(30_000);
});
