/** Polling a CRM for what happened to its companies. */
import { describe, expect, it } from 'vitest';
import { readValue } from '../../../src/store/kv.ts';
import { A, B, C, newFixture, numberOf } from './fixture.ts';

const seen = (id: string, cvr: string | null) => ({ kind: 'seen', id, properties: { cvr } }) as const;

describe('polling', () => {
  it('follows changes to the last page, and stores its position', async () => {
    const fixture = await newFixture('sqlite');
    for (const id of ['1', '2']) await fixture.link(id, id === '1' ? A : B);
    await fixture.settle(0);
    fixture.put('3', { cvr: numberOf(C) });
    fixture.put('4', { cvr: numberOf(B) });
    fixture.merge('2', '4');
    fixture.changeHints.push({ kind: 'gone', id: '1' }, { kind: 'moved', id: '2', to: '4' }, seen('3', numberOf(C)), {
      kind: 'gone',
      id: 'never-heard-of',
    });
    await fixture.poll();
    await fixture.settle();
    expect(fixture.items()).toEqual([`${B} 4`, `${C} 3`]);
    expect(await fixture.row('1')).toMatchObject({ state: 'gone' });
    expect(await readValue(fixture.store.db, 'changes:crm')).toBe('4');
  });

  it('reads no record without a new change', async () => {
    const fixture = await newFixture('sqlite');
    fixture.put('1', { cvr: numberOf(A) });
    await fixture.link('1', A);
    await fixture.link('2', B, 'person');
    await fixture.settle(0);
    fixture.changeHints.push(seen('1', `DK-${numberOf(A)}`), seen('2', null), seen('3', null), seen('4', 'none'));
    await fixture.poll();
    await fixture.settle();
    expect([fixture.reads, await fixture.lanes('heal:crm')]).toEqual([[], []]);
  });

  it('relies on the record, not on the change hint, which may be old', async () => {
    const fixture = await newFixture('sqlite');
    fixture.put('1', { cvr: numberOf(A) });
    await fixture.link('1', A);
    await fixture.settle(0);
    fixture.changeHints.push({ kind: 'gone', id: '1' }, seen('1', null), { kind: 'moved', id: '1', to: '9' });
    await fixture.poll();
    await fixture.settle();
    expect([await fixture.row('1'), await fixture.row('9')]).toMatchObject([{ state: 'active' }, undefined]);
    expect(fixture.reads).toEqual([['1']]);
  });

  it('does not treat a record as without a number if the property is not visible', async () => {
    const fixture = await newFixture('sqlite');
    fixture.schema.length = 0;
    await fixture.link('1', A);
    fixture.changeHints.push({ kind: 'seen', id: '1', properties: {} });
    await fixture.poll();
    await fixture.settle();
    expect(await fixture.row('1')).toMatchObject({ state: 'active' });
  });

  it('reports to a person that the changes make no progress', async () => {
    const fixture = await newFixture('sqlite');
    let calls = 0;
    Object.assign(fixture.crm.connection, {
      changes: async () => {
        calls++;
        return { changeHints: [], cursor: 'same', more: true };
      },
    });
    await fixture.poll();
    expect(calls).toBe(2);
  });
});
