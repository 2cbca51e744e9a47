/** Notes for records that the CRM, or a person's override, says to leave alone. */
import { describe, expect, test } from 'vitest';
import { clearOverride, setOverride } from '../../../src/connector/decide/override.ts';
import { ENTITY, reported } from '../../faults/company.ts';
import { type Fixture, type GroundOptions, newGround } from '../derived-ground.ts';

const bankrupt = reported({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } }, 8);
const dissolved = reported({ status: { before: 'UNDER KONKURS', after: 'OPLØST' } }, 9);

async function fixture(options: Partial<GroundOptions> = {}): Promise<Fixture> {
  const made = await newGround({ engine: 'sqlite', notes: ['status'], ...options });
  await made.link('1', ENTITY);
  return made;
}

describe('a record on hold', () => {
  test('gets its note when the hold in the CRM is over', async () => {
    const stage = await fixture({ hold: 'hands_off' });
    await stage.report(bankrupt);
    stage.reads.set('1', { kind: 'found', id: '1', properties: { hands_off: true } });
    await stage.leave();
    expect(stage.notes.size).toBe(0);
    stage.reads.delete('1');
    stage.time += 7 * 3_600_000;
    await stage.leave();
    expect(stage.notes.get('1')).toHaveLength(1);
  });

  test('gets it when the hold that a person ruled is over', async () => {
    const stage = await fixture();
    await stage.report(bankrupt);
    const ref = { provider: 'crm', recordId: '1', property: '*' };
    const until = stage.time + 3_600_000;
    const override = { kind: 'hold', once: false, until, reason: null } as const;
    await stage.store.write((tx) => setOverride(tx, ref, override, stage.time));
    await stage.leave();
    expect(stage.notes.size).toBe(0);
    stage.time += 3_600_000;
    await stage.leave();
    expect(stage.notes.get('1')).toHaveLength(1);
  });

  test('gets it at once when a person lifts a hold without an end', async () => {
    const stage = await fixture();
    await stage.report(bankrupt);
    const ref = { provider: 'crm', recordId: '1', property: '*' };
    const override = { kind: 'hold', once: false, until: null, reason: null } as const;
    await stage.store.write((tx) => setOverride(tx, ref, override, stage.time));
    await stage.leave();
    expect(stage.notes.size).toBe(0);
    await stage.store.write((tx) => clearOverride(tx, ref, 'hold', stage.time));
    await stage.leave();
    expect(stage.notes.get('1')).toHaveLength(1);
    await stage.store.write((tx) => setOverride(tx, ref, override, stage.time));
    expect(await stage.lanes('note:crm')).toEqual([]);
  });

  test('gets no other note once a person put it on hold', async () => {
    const stage = await fixture();
    await stage.report(bankrupt);
    await stage.report(dissolved);
    const override = { kind: 'hold', once: false, until: null, reason: null } as const;
    const ref = { provider: 'crm', recordId: '1', property: '*' };
    stage.onAdded = () => stage.store.write((tx) => setOverride(tx, ref, override, stage.time));
    await stage.leave();
    const rows = await stage.store.db.selectFrom('note').select('state').orderBy('seq').execute();
    expect(rows.map(({ state }) => state)).toEqual(['done', 'due']);
  });
});
