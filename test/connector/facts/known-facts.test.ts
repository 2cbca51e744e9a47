/** Facts as a sync reads them. */

import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readKnownFacts } from '../../../src/connector/facts/facts.ts';
import { loadRecords } from '../../../src/connector/sync/load.ts';
import { eachRow } from '../../../src/store/each.ts';
import type { Tx } from '../../../src/store/store.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';

const ENTITY = 'CVR-1-10000001';

const know = (tx: Tx, facts: readonly (readonly [field: string, value: string | number, seq: number])[]) =>
  sql`insert into fact (entity, field, value, clock, seq)
    select each.entity, each.field, each.value, '2026-01-01T00:00:00.000Z', cast(each.seq as bigint)
    from ${eachRow(
      tx,
      ['entity', 'field', 'value', 'seq'],
      facts.map(([field, scalar, seq]) => ({ entity: ENTITY, field, value: JSON.stringify({ scalar }), seq })),
    )}`.execute(tx);

describe.each(SUITE_ENGINES)('facts that are read for some fields, on %s', (engine) => {
  it('include the newest receipt of any field, also of a field of a newer version', async () => {
    const { db, write } = await newStore(engine);
    await write((tx) =>
      know(tx, [
        ['name', 'A ApS', 1],
        ['city', 'By', 2],
        ['horoscope', 'Leo', 3],
      ]),
    );
    const known = await readKnownFacts(db, [ENTITY, 'CVR-1-10000002'], ['name', 'phone']);
    expect([...known.keys()]).toEqual([ENTITY]);
    expect([...(known.get(ENTITY)?.facts.keys() ?? [])]).toEqual(['name']);
    expect(known.get(ENTITY)?.newestSeq).toBe(3);
  });

  it('include the currency of an amount without a mapped property', async () => {
    const { db, write } = await newStore(engine);
    await write(async (tx) => {
      await know(tx, [
        ['revenue', 7, 1],
        ['reportCurrency', 'EUR', 1],
        ['capitalCurrency', 'DKK', 1],
      ]);
      await sql`insert into link (provider, record_id, entity, state, desired, observed, created_at, updated_at)
        values ('crm', '1', ${ENTITY}, 'active', 'on', 'on', 0, 0)`.execute(tx);
    });
    const [record] = await loadRecords(db, { provider: 'crm', ids: ['1'], fields: ['revenue'] }, 0);
    expect([...(record?.facts.keys() ?? [])].sort()).toEqual(['reportCurrency', 'revenue']);
  });
});
