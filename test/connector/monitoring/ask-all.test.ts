/** Every company is asked for once, however many records stand for it. */
import { expect, it } from 'vitest';
import { linkRecord, updateLink } from '../../../src/connector/links/links.ts';
import { askAllFullUpdates } from '../../../src/connector/monitoring/ask-all.ts';
import { readGaps, recordGap } from '../../../src/store/recovery/gap.ts';
import { ENTITY, OTHER } from '../../faults/company.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';

const NOW = 1_000;

it.each(SUITE_ENGINES)(
  'a full update of every linked company is requested, and the gap is closed (%s)',
  async (engine) => {
    const store = await newStore(engine);
    const many = Array.from({ length: 1_001 }, (_, at) => ['c', String(at), `CVR-1-${20_000_000 + at}`] as const);
    const links = [['a', '1', ENTITY], ['a', '2', OTHER], ['a', '9', ENTITY], ['b', '1', ENTITY], ...many] as const;
    await store.write(async (tx) => {
      for (const [provider, recordId, entity] of links)
        await linkRecord(tx, { provider, recordId, entity, sendUpdate: false, now: NOW });
      await tx.deleteFrom('lane').execute();
      // The first of the links does not count: the service refused it.
      await updateLink(tx, { provider: 'a', recordId: '1' }, { observed: 'refused' });
      await recordGap(tx, { cause: 'restored', since: 1 }, NOW);
    });
    expect(await askAllFullUpdates({ store, recorded: async () => 1 }, () => NOW, AbortSignal.timeout(60_000))).toBe(
      1_003,
    );
    const asking = await store.db
      .selectFrom('link')
      .select(['provider', 'record_id'])
      .where('send_update', '=', 1)
      .where('provider', '!=', 'c')
      .orderBy('record_id')
      .execute();
    expect(asking.map(({ provider, record_id }) => `${provider}:${record_id}`)).toEqual(['a:2', 'a:9']);
    const lanes = await store.db.selectFrom('lane').select('key').where('queue', '=', 'monitoring').execute();
    expect(lanes).toHaveLength(1_003);
    expect(await readGaps(store.db)).toEqual([{ since: 1, until: NOW, seq: 0, cause: 'restored', askedAt: NOW }]);
  },
);
