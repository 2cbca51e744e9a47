/** Merges, in whichever order the CRM tells of them and of the deletions that come with them. */
import { describe, expect, it } from 'vitest';
import { endLink } from '../../../src/connector/links.ts';
import { resolveAttention } from '../../../src/connector/resolve-attention.ts';
import { readRulings, rule } from '../../../src/connector/ruling.ts';
import { ENGINES } from '../../support/stores.ts';
import { A, B, type Ground, newGround, numberOf } from './ground.ts';

const statesOf = async (ground: Ground, ...ids: string[]) =>
  Promise.all(ids.map(async (id) => [(await ground.row(id))?.state, (await ground.row(id))?.entity]));

/** Tells of records one after the other, each with a look of its own. */
async function tell(ground: Ground, ...ids: string[]): Promise<void> {
  for (const id of ids) {
    await ground.hint(id);
    await ground.healOnce();
  }
  await ground.settle();
}

describe.each(ENGINES)('a merge on %s', (engine) => {
  it('takes the link along to the new record, and all that it was', async () => {
    const ground = await newGround(engine, { autoLink: false });
    ground.put('9', { cvr: numberOf(A) });
    ground.merge('7', '9');
    await ground.link('7', A);
    await ground.store.write((tx) => tx.updateTable('link').set({ trust: 'register' }).execute());
    await ground.settle(0);
    await tell(ground, '7');
    expect([await ground.row('7'), await ground.row('9'), ground.items()]).toMatchObject([
      { state: 'merged' },
      { state: 'active', entity: A, origin: 'number', trust: 'register' },
      [`${A} 9`],
    ]);
  });

  it('comes to the same whether the deletion is told first or last, or both twice', async () => {
    for (const order of [
      ['gone', 'moved'],
      ['moved', 'gone'],
      ['gone', 'gone', 'moved', 'moved'],
    ]) {
      const ground = await newGround(engine, { autoLink: false });
      await ground.link('7', A);
      await ground.settle(0);
      ground.put('9', { cvr: numberOf(A) });
      for (const told of order) {
        // What a read shows once it showed the merge, it shows from then on.
        if (told === 'moved') ground.merge('7', '9');
        await tell(ground, '7', '9');
      }
      expect([await statesOf(ground, '7', '9'), ground.items()]).toEqual([
        [
          ['merged', A],
          ['active', A],
        ],
        [`${A} 9`],
      ]);
    }
  });

  it('of two records of one company leaves one link', async () => {
    const ground = await newGround(engine);
    ground.put('9', { cvr: numberOf(A) });
    for (const id of ['7', '8']) {
      ground.merge(id, '9');
      await ground.link(id, A);
    }
    await ground.settle(0);
    await tell(ground, '8', '9', '7');
    expect([await statesOf(ground, '7', '8', '9'), ground.items()]).toEqual([
      [
        ['merged', A],
        ['merged', A],
        ['active', A],
      ],
      [`${A} 9`],
    ]);
  });

  it('of two companies leaves both to a person, also where the deletions are told first', async () => {
    for (const isDeletedFirst of [false, true]) {
      const ground = await newGround(engine);
      await ground.link('7', A);
      await ground.link('8', B);
      await ground.settle(0);
      if (isDeletedFirst) await tell(ground, '7', '8');
      ground.put('9', { cvr: numberOf(A) });
      ground.merge('7', '9');
      ground.merge('8', '9');
      await tell(ground, '7', '8', '9');
      expect([await statesOf(ground, '7', '8', '9'), ground.items()]).toEqual([
        [
          ['merged', A],
          ['conflict', B],
          ['conflict', A],
        ],
        [`${A} 9`, `${B} 8`],
      ]);
      await tell(ground, '9', '8', '7');
      expect(await statesOf(ground, '8', '9')).toEqual([
        ['conflict', B],
        ['conflict', A],
      ]);
      await ground.store.write((tx) => resolveAttention(tx, 'accept', 'link/crm/9', ground.now));
      await ground.store.write((tx) => resolveAttention(tx, 'keep', 'link/crm/8', ground.now));
      await tell(ground, '9', '8');
      expect([await statesOf(ground, '8', '9'), ground.items()]).toEqual([
        [
          ['removed', B],
          ['active', A],
        ],
        [`${A} 9`],
      ]);
    }
  });

  it('is followed along a chain', async () => {
    const ground = await newGround(engine, { autoLink: false });
    await ground.link('7', A);
    ground.merge('7', '8');
    ground.merge('8', '9');
    ground.put('9', { cvr: numberOf(A) });
    await tell(ground, '7');
    expect([await statesOf(ground, '7', '8', '9'), ground.items()]).toEqual([
      [
        ['merged', A],
        ['merged', A],
        ['active', A],
      ],
      [`${A} 9`],
    ]);
  });

  it('into a record that is gone by now ends the link', async () => {
    const ground = await newGround(engine, { autoLink: false });
    await ground.link('7', A);
    ground.merge('7', '9');
    await tell(ground, '7');
    expect([await statesOf(ground, '7', '9'), ground.items()]).toEqual([
      [
        ['merged', A],
        ['gone', A],
      ],
      [],
    ]);
  });

  it('into a record without a number keeps the link, until a person fills one in and takes it out again', async () => {
    const ground = await newGround(engine);
    await ground.link('7', A);
    ground.merge('7', '9');
    ground.put('9', { cvr: null });
    await tell(ground, '7', '9');
    expect([await statesOf(ground, '9'), ground.items()]).toEqual([[['active', A]], [`${A} 9`]]);
    ground.put('9', { cvr: numberOf(A) });
    await tell(ground, '9');
    expect(await ground.row('9')).toMatchObject({ state: 'active', doubt: null });
    ground.put('9', { cvr: null });
    await tell(ground, '9');
    expect([await statesOf(ground, '9'), ground.items()]).toEqual([[['removed', A]], []]);
  });

  it('into a record that holds the number of another company waits for a person', async () => {
    const ground = await newGround(engine, { autoLink: false });
    await ground.link('7', A);
    ground.merge('7', '9');
    ground.put('9', { cvr: numberOf(B) });
    await tell(ground, '7');
    expect([await ground.row('9'), ground.items()]).toMatchObject([
      { state: 'conflict', entity: A, reason: expect.stringContaining(B) },
      [`${A} 9`],
    ]);
  });

  it('waits where the survivor has a link of its own that upstream has not let go of yet', async () => {
    const ground = await newGround(engine, { autoLink: false });
    await ground.link('7', A);
    await ground.link('9', B, 'person');
    await ground.settle(0);
    ground.answer = { kind: 'unavailable', message: 'down' };
    const end = { provider: 'crm', recordId: '9', state: 'removed', reason: 'by hand', now: ground.now } as const;
    await ground.store.write((tx) => endLink(tx, end));
    ground.merge('7', '9');
    ground.put('9', { cvr: numberOf(A) });
    await tell(ground, '7');
    expect(await statesOf(ground, '7', '9')).toEqual([
      ['active', A],
      ['removed', B],
    ]);
    ground.answer = undefined;
    await ground.settle(600_000);
    expect([await statesOf(ground, '7', '9'), ground.items()]).toEqual([
      [
        ['merged', A],
        ['active', A],
      ],
      [`${A} 9`],
    ]);
  });

  it('of a record that a person unlinked does not link its survivor by itself', async () => {
    const ground = await newGround(engine);
    await ground.link('7', A);
    const end = { provider: 'crm', recordId: '7', state: 'removed', reason: 'by hand', now: ground.now } as const;
    await ground.store.write((tx) => endLink(tx, end));
    ground.merge('7', '9');
    ground.put('9', { cvr: numberOf(A) });
    await tell(ground, '7', '9');
    expect([await statesOf(ground, '9'), ground.items()]).toEqual([[['removed', A]], []]);
  });

  it('of records without a link links the survivor by its number, where links are made by themselves', async () => {
    const ground = await newGround(engine);
    ground.merge('7', '9');
    ground.put('9', { cvr: numberOf(A) });
    await tell(ground, '7');
    expect(await statesOf(ground, '7', '9')).toEqual([
      [undefined, undefined],
      ['active', A],
    ]);
  });

  it('of a record with its rival ends the question', async () => {
    const ground = await newGround(engine);
    await ground.link('7', A);
    ground.put('7', { cvr: numberOf(A) });
    ground.put('8', { cvr: numberOf(A) });
    await tell(ground, '8');
    expect(await statesOf(ground, '8')).toEqual([['conflict', A]]);
    // Salesforce: the winner keeps its id, here the one that was in question.
    ground.merge('7', '8');
    await tell(ground, '7');
    expect([await statesOf(ground, '7', '8'), ground.items()]).toEqual([
      [
        ['merged', A],
        ['active', A],
      ],
      [`${A} 8`],
    ]);
  });

  it("takes a person's rulings along", async () => {
    const ground = await newGround(engine, { autoLink: false });
    await ground.link('7', A);
    const ruling = { provider: 'crm', property: 'name', once: 0, until: null, reason: 'ours', created_at: 1 } as const;
    await ground.store.write((tx) =>
      tx
        .insertInto('ruling')
        .values([
          { ...ruling, record_id: '7', kind: 'hold' },
          { ...ruling, record_id: '7', property: 'phone', kind: 'hold' },
          { ...ruling, record_id: '9', kind: 'release' },
        ])
        .execute(),
    );
    ground.merge('7', '9');
    ground.put('9', { cvr: numberOf(A) });
    await tell(ground, '7');
    const rulings = ground.store.db.selectFrom('ruling').select(['property', 'kind']).where('record_id', '=', '9');
    expect(await rulings.orderBy('property').execute()).toEqual([
      { property: 'name', kind: 'hold' },
      { property: 'phone', kind: 'hold' },
    ]);
  });

  it('leaves no hold behind for one that has ended, and makes no hole in a hold for a release', async () => {
    const ground = await newGround(engine, { autoLink: false });
    await ground.link('7', A);
    const rulings = [
      ['7', 'phone', 'hold', 0, null],
      ['9', 'phone', 'hold', 0, ground.now - 1],
      ['7', 'name', 'release', 0, null],
      ['9', '*', 'hold', 0, null],
    ] as const;
    const rows = rulings.map(([record_id, property, kind, once, until]) => {
      return { provider: 'crm', record_id, property, kind, once, until, reason: null, created_at: 1 };
    });
    await ground.store.write((tx) => tx.insertInto('ruling').values(rows).execute());
    ground.merge('7', '9');
    ground.put('9', { cvr: numberOf(A) });
    await tell(ground, '7');
    const kept = (await readRulings(ground.store.db, 'crm', ['9'], ground.now)).get('9') ?? [];
    expect([...kept].map(([property, { kind, until }]) => [property, kind, until])).toEqual([
      ['*', 'hold', null],
      ['phone', 'hold', null],
    ]);
  });

  it("does not let a release for once, which was meant for another value, take the survivor's", async () => {
    const ground = await newGround(engine, { autoLink: false });
    await ground.link('7', A);
    const once = { kind: 'release', once: true, until: null, reason: null } as const;
    await ground.store.write((tx) => rule(tx, { provider: 'crm', recordId: '7', property: 'name' }, once, ground.now));
    ground.merge('7', '9');
    ground.put('9', { cvr: numberOf(A) });
    await tell(ground, '7');
    expect(await readRulings(ground.store.db, 'crm', ['9'], ground.now)).toEqual(new Map());
  });
});
