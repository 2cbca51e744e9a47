/** What a merge in the CRM does to the overrides of its records. */
import { describe, expect, it } from 'vitest';
import { readOverrides, setOverride } from '../../../src/connector/overrides/override.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { A, newFixture, numberOf, report } from './fixture.ts';

describe.each(SUITE_ENGINES)('the overrides of merged records, on %s', (engine) => {
  it("takes a person's overrides along", async () => {
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

  it('leaves no hold behind for one that has ended, and makes no hole in a hold for a release', async () => {
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

  it("does not let a release for once, which was meant for another value, take the survivor's", async () => {
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
});
