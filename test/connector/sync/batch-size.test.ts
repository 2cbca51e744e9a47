/** How long a call stays smaller than a connection's limits. */
import { describe, expect, it } from 'vitest';
import { readBatchSize, rememberBatchSize } from '../../../src/connector/write/batch-size.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';

const CRM = { name: 'hubspot', limits: { batch: { read: 100, update: 100 } } } as Parameters<typeof readBatchSize>[1];
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

describe.each(SUITE_ENGINES)('the size of a call on %s', (engine) => {
  it('recovers a second after the machine was briefly busy', async () => {
    const store = await newStore(engine);
    await rememberBatchSize(store, 'hubspot', { size: 17, reason: 'slow', now: 0 });
    expect([await readBatchSize(store.db, CRM, 999), await readBatchSize(store.db, CRM, SECOND)]).toEqual([17, 100]);
  });

  it('stays small twice as long after each slow call, up to five minutes', async () => {
    const store = await newStore(engine);
    const kept: number[] = [];
    for (let now = 0, round = 0; round < 11; round++) {
      await rememberBatchSize(store, 'hubspot', { size: 17, reason: 'slow', now });
      const began = now;
      while ((await readBatchSize(store.db, CRM, now)) === 17) now += SECOND;
      kept.push((now - began) / SECOND);
    }
    expect(kept).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  it('counts simultaneous calls once, and resets after a minute without a slow call', async () => {
    const store = await newStore(engine);
    for (const size of [50, 40, 17])
      await rememberBatchSize(store, 'hubspot', { size, reason: 'slow', now: size === 50 ? 0 : 500 });
    expect([await readBatchSize(store.db, CRM, 1_499), await readBatchSize(store.db, CRM, 1_500)]).toEqual([17, 100]);
    await rememberBatchSize(store, 'hubspot', { size: 17, reason: 'slow', now: 2 * MINUTE });
    expect(await readBatchSize(store.db, CRM, 2 * MINUTE + SECOND)).toBe(100);
  });
});
