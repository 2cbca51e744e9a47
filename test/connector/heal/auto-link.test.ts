/** Records that are linked because they hold a number, and those that must not be. */
import { describe, expect, it } from 'vitest';
import { readAttention } from '../../../src/connector/attention.ts';
import { endLink } from '../../../src/connector/links.ts';
import { resolveAttention } from '../../../src/connector/resolve-attention.ts';
import { ENGINES } from '../../support/stores.ts';
import { A, B, type Ground, newGround, numberOf } from './ground.ts';

/** Two records with the number of one company, the first of them linked. */
async function rivals(engine: (typeof ENGINES)[number]): Promise<Ground> {
  const ground = await newGround(engine);
  ground.put('7', { cvr: numberOf(A) });
  await ground.hint('7');
  await ground.settle();
  ground.put('8', { cvr: numberOf(A) });
  await ground.hint('8');
  await ground.settle();
  return ground;
}

const states = async (ground: Ground, ...ids: string[]) =>
  Promise.all(ids.map(async (id) => (await ground.row(id))?.state));

describe.each(ENGINES)('a record with a number on %s', (engine) => {
  it('is linked, monitored and asked to be filled where links are made by themselves', async () => {
    const ground = await newGround(engine);
    for (const [id, cvr] of [
      ['1', numberOf(A)],
      ['2', null],
      ['3', 'unknown'],
      ['4', '1000000123'],
    ] as const)
      ground.put(id, { cvr });
    await ground.hint('1', '2', '3', '4', '5');
    await ground.healOnce();
    expect(await ground.row('1')).toMatchObject({ entity: A, origin: 'number', trust: 'crm', send_update: 1 });
    await ground.settle();
    expect([ground.items(), await states(ground, '2', '3', '4', '5')]).toEqual([
      [`${A} 1`],
      [undefined, undefined, undefined, undefined],
    ]);
    expect(await ground.lanes('heal:crm')).toEqual([]);
  });

  it('is left alone, without a call, where links are made by hand', async () => {
    const ground = await newGround(engine, { autoLink: false });
    ground.put('7', { cvr: numberOf(A) });
    await ground.hint('7');
    await ground.settle();
    expect([await ground.row('7'), ground.reads, await ground.lanes('heal:crm')]).toEqual([undefined, [], []]);
  });

  it('is left alone while it is on hold', async () => {
    const ground = await newGround(engine, { hold: 'hold' });
    ground.put('7', { cvr: numberOf(A), hold: true });
    await ground.hint('7');
    await ground.settle();
    expect(await ground.row('7')).toBeUndefined();
  });

  it('that another record stands for already waits for a person, who may keep both', async () => {
    const ground = await rivals(engine);
    expect([await states(ground, '7', '8'), ground.items()]).toEqual([['active', 'conflict'], [`${A} 7`]]);
    const [told] = await readAttention(ground.store.db, ground.now);
    expect(told).toMatchObject({ id: 'link/crm/8', reason: expect.stringContaining('record 7') });
    await ground.store.write((tx) => resolveAttention(tx, 'accept', 'link/crm/8', ground.now));
    await ground.hint('7', '8');
    await ground.settle();
    expect([await states(ground, '7', '8'), ground.items()]).toEqual([
      ['active', 'active'],
      [`${A} 7`, `${A} 8`],
    ]);
  });

  it('that a person did not want for the company is not asked about again, but linked for another one', async () => {
    const ground = await rivals(engine);
    await ground.store.write((tx) => resolveAttention(tx, 'keep', 'link/crm/8', ground.now));
    await ground.hint('8');
    await ground.settle();
    expect([await states(ground, '7', '8'), await readAttention(ground.store.db, ground.now)]).toEqual([
      ['active', 'removed'],
      [],
    ]);
    ground.put('8', { cvr: numberOf(B) });
    await ground.hint('8');
    await ground.settle();
    expect([await ground.row('8'), ground.items()]).toMatchObject([
      { state: 'active', entity: B },
      [`${A} 7`, `${B} 8`],
    ]);
  });

  it('takes the place of the one that was deleted, whichever is told first', async () => {
    for (const order of [
      ['7', '8'],
      ['8', '7'],
    ]) {
      const ground = await newGround(engine);
      ground.put('7', { cvr: numberOf(A) });
      await ground.hint('7');
      await ground.settle();
      ground.put('8', { cvr: numberOf(A) });
      ground.remove('7');
      for (const id of order) {
        await ground.hint(id);
        await ground.healOnce();
      }
      await ground.settle();
      expect([await states(ground, '7', '8'), ground.items()]).toEqual([['gone', 'active'], [`${A} 8`]]);
    }
  });

  it('takes its place in one look at both', async () => {
    const ground = await newGround(engine);
    await ground.link('8', A);
    ground.put('7', { cvr: numberOf(A) });
    await ground.hint('7', '8');
    await ground.healOnce();
    expect(await states(ground, '7', '8')).toEqual(['active', 'gone']);
  });

  it('takes its place too where a person unlinks the other', async () => {
    const ground = await rivals(engine);
    const end = { provider: 'crm', recordId: '7', state: 'removed', reason: 'by hand', now: ground.now } as const;
    await ground.store.write((tx) => endLink(tx, end));
    await ground.settle();
    expect([await states(ground, '7', '8'), ground.items()]).toEqual([['removed', 'active'], [`${A} 8`]]);
  });

  it('that appears together with another of the same number is not guessed at', async () => {
    const ground = await newGround(engine);
    for (const id of ['7', '8']) ground.put(id, { cvr: numberOf(A) });
    await ground.hint('7', '8');
    await ground.settle();
    expect([await states(ground, '7', '8'), ground.items()]).toEqual([['conflict', 'conflict'], []]);
    ground.put('8', { cvr: null });
    await ground.hint('8');
    await ground.settle();
    expect([await states(ground, '7', '8'), ground.items()]).toEqual([['active', 'removed'], [`${A} 7`]]);
  });

  it('waits for a person where it is restored after another took its place', async () => {
    const ground = await newGround(engine);
    await ground.link('7', A);
    ground.put('8', { cvr: numberOf(A) });
    await ground.hint('7', '8');
    await ground.settle();
    ground.put('7', { cvr: numberOf(A) });
    await ground.hint('7');
    await ground.settle();
    expect([await states(ground, '7', '8'), ground.items()]).toEqual([['conflict', 'active'], [`${A} 8`]]);
  });

  it('is asked about once more only where its number is another one', async () => {
    const ground = await newGround(engine);
    ground.put('7', { cvr: numberOf(B) });
    await ground.link('7', A, 'person');
    await ground.hint('7');
    await ground.settle();
    await ground.store.write((tx) => resolveAttention(tx, 'accept', 'link/crm/7', ground.now));
    await ground.hint('7');
    await ground.settle();
    expect(await states(ground, '7')).toEqual(['active']);
    ground.put('7', { cvr: '10000009' });
    await ground.hint('7');
    await ground.settle();
    expect(await states(ground, '7')).toEqual(['conflict']);
  });
});
