/** What a merge in the CRM does to the overrides of its records. */
import { describe, expect, it } from 'vitest';
import { endLink } from '../../../src/connector/links/links.ts';
import { pruneRecords } from '../../../src/connector/links/prune-records.ts';
import { listHolds } from '../../../src/connector/overrides/hold-list.ts';
import { readOverrides, setOverride } from '../../../src/connector/overrides/override.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { A, type Fixture, newFixture, numberOf, report } from './fixture.ts';

const HOLD = { kind: 'hold', once: false, until: null, reason: 'ours' } as const;

const hold = ({ store, now }: Fixture, recordId: string, property: string) =>
  store.write((tx) => setOverride(tx, { provider: 'crm', recordId, property }, HOLD, now));

const held = async ({ store, now }: Fixture): Promise<readonly string[]> =>
  (await listHolds(store.db, now, {}, 9)).map(({ recordId, property }) => `${recordId} ${property}`);

describe.each(SUITE_ENGINES)('the overrides of merged records, on %s', (engine) => {
  it('move to the survivor', async () => {
    const fixture = await newFixture(engine, { autoLink: false });
    await fixture.link('7', A);
    const override = {
      provider: 'crm',
      property: 'name',
      once: 0,
      until: null,
      reason: 'ours',
      created_at: 1,
    } as const;
    await fixture.store.write((tx) =>
      tx
        .insertInto('override')
        .values([
          { ...override, record_id: '7', kind: 'hold' },
          { ...override, record_id: '7', property: 'phone', kind: 'hold' },
          { ...override, record_id: '9', kind: 'release' },
        ])
        .execute(),
    );
    fixture.merge('7', '9');
    fixture.put('9', { cvr: numberOf(A) });
    await report(fixture, '7');
    const overrides = fixture.store.db.selectFrom('override').select(['property', 'kind']).where('record_id', '=', '9');
    expect(await overrides.orderBy('property').execute()).toEqual([
      { property: 'name', kind: 'hold' },
      { property: 'phone', kind: 'hold' },
    ]);
  });

  it('leave no ended hold, and a release makes no gap in a hold', async () => {
    const fixture = await newFixture(engine, { autoLink: false });
    await fixture.link('7', A);
    const overrides = [
      ['7', 'phone', 'hold', 0, null],
      ['9', 'phone', 'hold', 0, fixture.now - 1],
      ['7', 'name', 'release', 0, null],
      ['9', '*', 'hold', 0, null],
    ] as const;
    const rows = overrides.map(([record_id, property, kind, once, until]) => {
      return { provider: 'crm', record_id, property, kind, once, until, reason: null, created_at: 1 };
    });
    await fixture.store.write((tx) => tx.insertInto('override').values(rows).execute());
    fixture.merge('7', '9');
    fixture.put('9', { cvr: numberOf(A) });
    await report(fixture, '7');
    const kept = (await readOverrides(fixture.store.db, 'crm', ['9'], fixture.now)).get('9') ?? [];
    expect([...kept].map(([property, { kind, until }]) => [property, kind, until])).toEqual([
      ['*', 'hold', null],
      ['phone', 'hold', null],
    ]);
  });

  it('exclude a release for once of another value from the survivor', async () => {
    const fixture = await newFixture(engine, { autoLink: false });
    await fixture.link('7', A);
    const once = { kind: 'release', once: true, until: null, reason: null } as const;
    await fixture.store.write((tx) =>
      setOverride(tx, { provider: 'crm', recordId: '7', property: 'name' }, once, fixture.now),
    );
    fixture.merge('7', '9');
    fixture.put('9', { cvr: numberOf(A) });
    await report(fixture, '7');
    expect(await readOverrides(fixture.store.db, 'crm', ['9'], fixture.now)).toEqual(new Map());
  });

  it('list each hold once after a merge, and again on the merged record once the CRM restores it', async () => {
    for (const autoLink of [false, true]) {
      const fixture = await newFixture(engine, { autoLink });
      await fixture.link('7', A);
      await hold(fixture, '7', 'name');
      await hold(fixture, '9', 'phone');
      fixture.merge('7', '9');
      fixture.put('9', { cvr: numberOf(A) });
      await report(fixture, '7');
      expect(await held(fixture)).toEqual(['9 name', '9 phone']);
      expect(await readOverrides(fixture.store.db, 'crm', ['7'], fixture.now)).toEqual(new Map());
      await fixture.settle();
      // It waits for a person beside the survivor, or is linked by one.
      fixture.put('7', { cvr: numberOf(A) });
      if (autoLink) await report(fixture, '7');
      else await fixture.link('7', A);
      expect(await fixture.row('7')).toMatchObject({ state: autoLink ? 'conflict' : 'active' });
      expect(await held(fixture)).toEqual(['7 name', '9 name', '9 phone']);
    }
  });

  it('move even if the survivor has the link already', async () => {
    const fixture = await newFixture(engine);
    await fixture.link('7', A);
    await hold(fixture, '7', 'name');
    fixture.put('9', { cvr: numberOf(A) });
    // The deletion and the new record are told before the merge.
    await report(fixture, '7', '9');
    expect([(await fixture.row('7'))?.state, (await fixture.row('9'))?.state]).toEqual(['gone', 'active']);
    fixture.merge('7', '9');
    await report(fixture, '7');
    expect([(await fixture.row('7'))?.state, await held(fixture)]).toEqual(['merged', ['9 name']]);
  });

  it('are deleted with the values of the merged record, without others', async () => {
    const fixture = await newFixture(engine);
    await fixture.link('7', A);
    await fixture.link('8', A);
    await hold(fixture, '7', 'name');
    await hold(fixture, '8', 'name');
    fixture.merge('7', '9');
    fixture.put('9', { cvr: numberOf(A) });
    await report(fixture, '7');
    const { store, now } = fixture;
    await store.write((tx) => endLink(tx, { provider: 'crm', recordId: '8', state: 'gone', reason: 'gone', now }));
    await store.write((tx) => pruneRecords(tx, Number.MAX_SAFE_INTEGER, 9));
    const left = await store.db.selectFrom('override').select(['record_id', 'kind']).orderBy('record_id').execute();
    expect(left).toEqual([
      { record_id: '8', kind: 'hold' },
      { record_id: '9', kind: 'hold' },
    ]);
  });
});
