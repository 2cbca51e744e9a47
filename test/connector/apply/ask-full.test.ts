/** Which lists known in part the service is asked to state, and through which link. */
import { describe, expect, it } from 'vitest';
import type { FieldName } from '../../../providers/fields.ts';
import { askFullUpdates } from '../../../src/connector/apply/ask-full.ts';
import { fold } from '../../../src/connector/facts/fact.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { ENTITY } from '../../faults/company.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';

const NOW = 1_000;
const joined = (field: FieldName, seq: number) => {
  const clock = '2026-03-02T08:00:00.000Z';
  const added = [{ id: 'CVR-3-4999000001', name: 'Anne Opdigtsen' }];
  return fold(undefined, ENTITY, { field, added, removed: [], clock }, seq).fact;
};

describe.each(SUITE_ENGINES)('a list known in part, on %s', (engine) => {
  const fixture = async () => {
    const store = await newStore(engine);
    for (const provider of ['a', 'b'])
      await store.write((tx) =>
        linkRecord(tx, { provider, recordId: '7', entity: ENTITY, sendUpdate: false, now: NOW }),
      );
    const ask = async (field: FieldName, needed: readonly FieldName[], seq = 1) => {
      const by = new Map([['b', new Set(needed)]]);
      await store.write((tx) => askFullUpdates(tx, [joined(field, seq)], by, NOW));
      const links = await store.db.selectFrom('link').select('provider').where('send_update', '=', 1).execute();
      await store.write((tx) => tx.updateTable('link').set({ send_update: 0 }).execute());
      return links.map(({ provider }) => provider);
    };
    return { store, ask };
  };

  it('is requested through a link whose CRM uses it, once for each event', async () => {
    const { ask } = await fixture();
    expect(await ask('board', ['board'])).toEqual(['b']);
    expect(await ask('board', ['board'])).toEqual([]);
    expect(await ask('board', ['board'], 2)).toEqual(['b']);
  });

  it('is not requested if no CRM uses it, or no payload can complete it', async () => {
    const { ask } = await fixture();
    expect(await ask('board', ['management'])).toEqual([]);
    expect(await ask('productionUnits', ['productionUnits'])).toEqual([]);
  });

  it('is not requested through a refused or ended link', async () => {
    const { store, ask } = await fixture();
    for (const change of [{ observed: 'refused' }, { observed: 'on', state: 'removed' }, { desired: 'off' }] as const) {
      const whole = { observed: 'on', state: 'active', desired: 'on', ...change } as const;
      await store.write((tx) => tx.updateTable('link').set(whole).where('provider', '=', 'b').execute());
      expect(await ask('board', ['board']), JSON.stringify(change)).toEqual([]);
    }
  });
});
