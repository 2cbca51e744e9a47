/** What is remembered of records that stand for no company any more. */
import { describe, expect, it } from 'vitest';
import { pruneRecords } from '../../../src/connector/links/prune-records.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';

const BEFORE = 500;

describe.each(SUITE_ENGINES)('the stored state of records, on %s', (engine) => {
  it('is deleted long after the end of their link, and kept while the link is active or ended recently', async () => {
    const store = await newStore(engine);
    const links = [
      ['active', 'active', 100],
      ['conflict', 'conflict', 100],
      ['gone', 'gone', 100],
      ['lately', 'removed', BEFORE],
      ['merged', 'merged', BEFORE - 1],
      ['removed', 'removed', 100],
    ] as const;
    await store.write(async (tx) => {
      for (const [record_id, state, updated_at] of links) {
        const own = { provider: 'crm', record_id };
        const link = { ...own, entity: `CVR-1-${record_id}`, state, updated_at, created_at: 0, send_update: 0 };
        const more = { synced_seq: 0, origin: 'person', trust: 'crm', writes_number: 0 } as const;
        await tx
          .insertInto('link')
          .values({ ...link, ...more, desired: 'on', observed: 'on' })
          .execute();
        await tx
          .insertInto('written')
          .values({ ...own, properties: '{}' })
          .execute();
        for (const property of ['name', 'phone'])
          await tx
            .insertInto('property_state')
            .values({ ...own, property, refused: '"x"' })
            .execute();
        await tx.insertInto('parent').values(own).execute();
      }
    });
    while (await store.write((tx) => pruneRecords(tx, BEFORE, 2)));
    for (const table of ['written', 'property_state', 'parent'] as const) {
      const left = await store.db.selectFrom(table).select('record_id').distinct().orderBy('record_id').execute();
      expect(left, table).toEqual([{ record_id: 'active' }, { record_id: 'conflict' }, { record_id: 'lately' }]);
    }
    expect(await store.db.selectFrom('link').select('record_id').execute()).toHaveLength(links.length);
  });
});
