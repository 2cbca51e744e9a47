/** Polling a CRM for what happened to its companies. */
import { describe, expect, it } from 'vitest';
import { changesKey } from '../../../src/connector/heal/changes.ts';
import { readKept } from '../../../src/store/keep.ts';
import { A, B, newGround, numberOf } from './ground.ts';

const seen = (id: string, cvr: string | null) => ({ kind: 'seen', id, properties: { cvr } }) as const;

describe('polling', () => {
  it('follows what it is told, to the last page, and remembers how far it came', async () => {
    const ground = await newGround('sqlite');
    for (const id of ['1', '2']) await ground.link(id, id === '1' ? A : B);
    await ground.settle(0);
    ground.put('3', { cvr: '10000003' });
    ground.put('4', { cvr: numberOf(B) });
    ground.merge('2', '4');
    ground.sightings.push({ kind: 'gone', id: '1' }, { kind: 'moved', id: '2', to: '4' }, seen('3', '10000003'), {
      kind: 'gone',
      id: 'never-heard-of',
    });
    await ground.poll();
    await ground.settle();
    expect(ground.items()).toEqual([`${B} 4`, 'CVR-1-10000003 3']);
    expect(await ground.row('1')).toMatchObject({ state: 'gone' });
    expect(await readKept(ground.store.db, changesKey('crm'))).toBe('4');
  });

  it('looks at no record of which it was told nothing new', async () => {
    const ground = await newGround('sqlite');
    ground.put('1', { cvr: numberOf(A) });
    await ground.link('1', A);
    await ground.link('2', B, 'person');
    await ground.settle(0);
    ground.sightings.push(seen('1', `DK-${numberOf(A)}`), seen('2', null), seen('3', null), seen('4', 'none'));
    await ground.poll();
    await ground.settle();
    expect([ground.reads, await ground.lanes('heal:crm')]).toEqual([[], []]);
  });

  it('believes the record and not the sighting, which may be old', async () => {
    const ground = await newGround('sqlite');
    ground.put('1', { cvr: numberOf(A) });
    await ground.link('1', A);
    await ground.settle(0);
    ground.sightings.push({ kind: 'gone', id: '1' }, seen('1', null), { kind: 'moved', id: '1', to: '9' });
    await ground.poll();
    await ground.settle();
    expect([await ground.row('1'), await ground.row('9')]).toMatchObject([{ state: 'active' }, undefined]);
    expect(ground.reads).toEqual([['1']]);
  });

  it('takes no record for one without a number where the property is not shown', async () => {
    const ground = await newGround('sqlite');
    ground.schema.length = 0;
    await ground.link('1', A);
    ground.sightings.push({ kind: 'seen', id: '1', properties: {} });
    await ground.poll();
    await ground.settle();
    expect(await ground.row('1')).toMatchObject({ state: 'active' });
  });

  it('tells a person where the changes do not move on', async () => {
    const ground = await newGround('sqlite');
    let calls = 0;
    Object.assign(ground.crm.connection, {
      changes: async () => {
        calls++;
        return { sightings: [], cursor: 'same', more: true };
      },
    });
    await ground.poll();
    expect(calls).toBe(2);
  });
});
