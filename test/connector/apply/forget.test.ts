/** What a forgotten fact sets in motion. */
import { describe, expect, it } from 'vitest';
import { forgetFacts } from '../../../src/connector/apply/forget.ts';
import { fold } from '../../../src/connector/facts/fact.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { ENTITY } from '../../faults/company.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';

describe.each(SUITE_ENGINES)('a forgotten fact, on %s', (engine) => {
  it('causes a sync of each record of the company, and one request to the service', async () => {
    const store = await newStore(engine);
    const said = { field: 'name', now: 'Forkert ApS', clock: '2026-03-02T08:00:00.000Z' } as const;
    const { field, value, clock, seq } = fold(undefined, ENTITY, said, 1).fact;
    await store.write(async (tx) => {
      for (const provider of ['a', 'b'])
        await linkRecord(tx, { provider, recordId: '7', entity: ENTITY, sendUpdate: false, now: 1 });
      await tx
        .insertInto('fact')
        .values({ entity: ENTITY, field, value: JSON.stringify(value), clock, seq })
        .execute();
      await tx.deleteFrom('lane').execute();
    });
    const forgotten = await store.write((tx) => forgetFacts(tx, { entity: ENTITY, field: 'name' }, [], 2));
    expect(forgotten).toMatchObject({ records: ['a:7', 'b:7'], asked: true });
    const lanes = await store.db.selectFrom('lane').select(['queue', 'key']).orderBy('queue').execute();
    expect(lanes.map(({ queue, key }) => `${queue} ${key}`)).toEqual([
      `apply ${ENTITY}`,
      'monitoring a:7',
      'sync:a 7',
      'sync:b 7',
    ]);
    expect(await store.db.selectFrom('fact').selectAll().execute()).toEqual([]);
  });
});
