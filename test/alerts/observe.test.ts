/** Alerts with state: what they read from the store about sources and the webhooks of monitors. */
import { describe, expect, it } from 'vitest';
import { observe } from '../../src/alerts/observe.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { mark } from '../../src/runtime/lanes/lanes.ts';
import { closeGaps, recordGap } from '../../src/store/recovery/gap.ts';
import { ENTITY } from '../faults/company.ts';
import { made, NOW } from '../service/monitored.ts';
import { newStore, SUITE_ENGINES } from '../support/stores.ts';

describe.each(SUITE_ENGINES)('what needs a person, on %s', (engine) => {
  it('is a source whose last read failed, and since when, but no source that is read', async () => {
    const store = await newStore(engine);
    await store.write(async (tx) => {
      await mark(tx, 'watch', ['cvr', 'press'], NOW);
      await tx.updateTable('lane').set({ error: 'answered 503', since: 7 }).where('key', '=', 'cvr').execute();
    });
    expect((await observe(store, NOW, 100)).behind).toEqual([{ source: 'cvr', since: 7 }]);
  });

  it('is a gap in a store with links, until full updates are requested', async () => {
    const store = await newStore(engine);
    const gaps = async () => (await observe(store, NOW, 100)).gaps;
    await store.write((tx) => recordGap(tx, { cause: 'restored', since: 7 }, NOW));
    expect(await gaps()).toEqual([]);
    const link = { provider: 'hubspot', recordId: '1', entity: ENTITY, sendUpdate: false, now: NOW };
    await store.write((tx) => linkRecord(tx, link));
    expect(await gaps()).toMatchObject([{ since: 7, until: NOW }]);
    await store.write((tx) => closeGaps(tx, NOW));
    expect(await gaps()).toEqual([]);
  });

  it('is a webhook that fails or was disabled for failing, but not one that its owner disabled', async () => {
    const store = await newStore(engine);
    const monitor = async (name: string, is?: object) => {
      const { id } = await made(store, { name });
      if (is !== undefined) await store.write((tx) => tx.updateTable('monitor').set(is).where('id', '=', id).execute());
    };
    await monitor('well');
    await monitor('fails', { failing_since: 5 });
    await monitor('given up', { enabled: 0, failing_since: 6, disabled_reason: 'failing', disabled_at: 9 });
    await monitor('gone', { enabled: 0, disabled_reason: 'gone', disabled_at: 9 });
    await monitor('off by its owner', { enabled: 0, failing_since: 5 });
    const seen = (await observe(store, NOW, 100)).monitors.map(({ name, since, isOff }) => `${name} ${since} ${isOff}`);
    expect(seen.toSorted()).toEqual(['fails 5 false', 'given up 6 true', 'gone 9 true']);
  });
});
