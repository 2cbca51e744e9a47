/** Notes for records that the CRM, or a person's override, says to leave alone. */
import { describe, expect, test } from 'vitest';
import { clearOverride, setOverride } from '../../../src/connector/overrides/override.ts';
import { ENTITY, reported } from '../../faults/company.ts';
import { type Fixture, type FixtureOptions, newFixture } from '../derived-fixture.ts';

const bankrupt = reported({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } }, 8);
const dissolved = reported({ status: { before: 'UNDER KONKURS', after: 'OPLØST' } }, 9);

async function setUp(options: Partial<FixtureOptions> = {}): Promise<Fixture> {
  const made = await newFixture({ engine: 'sqlite', notes: ['status'], ...options });
  await made.link('1', ENTITY);
  return made;
}

describe('a record on hold', () => {
  test('gets its note after the hold in the CRM', async () => {
    const fixture = await setUp({ hold: 'hands_off' });
    await fixture.report(bankrupt);
    fixture.reads.set('1', { kind: 'found', id: '1', properties: { hands_off: true } });
    await fixture.leave();
    expect(fixture.notes.size).toBe(0);
    fixture.reads.delete('1');
    fixture.time += 7 * 3_600_000;
    await fixture.leave();
    expect(fixture.notes.get('1')).toHaveLength(1);
  });

  test('gets it after the hold of a person', async () => {
    const fixture = await setUp();
    await fixture.report(bankrupt);
    const ref = { provider: 'crm', recordId: '1', property: '*' };
    const until = fixture.time + 3_600_000;
    const override = { kind: 'hold', once: false, until, reason: null } as const;
    await fixture.store.write((tx) => setOverride(tx, ref, override, fixture.time));
    await fixture.leave();
    expect(fixture.notes.size).toBe(0);
    fixture.time += 3_600_000;
    await fixture.leave();
    expect(fixture.notes.get('1')).toHaveLength(1);
  });

  test('gets it at once when a person clears a hold without an end', async () => {
    const fixture = await setUp();
    await fixture.report(bankrupt);
    const ref = { provider: 'crm', recordId: '1', property: '*' };
    const override = { kind: 'hold', once: false, until: null, reason: null } as const;
    await fixture.store.write((tx) => setOverride(tx, ref, override, fixture.time));
    await fixture.leave();
    expect(fixture.notes.size).toBe(0);
    await fixture.store.write((tx) => clearOverride(tx, ref, 'hold', fixture.time));
    await fixture.leave();
    expect(fixture.notes.get('1')).toHaveLength(1);
    await fixture.store.write((tx) => setOverride(tx, ref, override, fixture.time));
    expect(await fixture.lanes('note:crm')).toEqual([]);
  });

  test('gets no other note once a person put it on hold', async () => {
    const fixture = await setUp();
    await fixture.report(bankrupt);
    await fixture.report(dissolved);
    const override = { kind: 'hold', once: false, until: null, reason: null } as const;
    const ref = { provider: 'crm', recordId: '1', property: '*' };
    fixture.onAdded = () => fixture.store.write((tx) => setOverride(tx, ref, override, fixture.time));
    await fixture.leave();
    const rows = await fixture.store.db.selectFrom('note').select('state').orderBy('seq').execute();
    expect(rows.map(({ state }) => state)).toEqual(['done', 'due']);
  });
});
