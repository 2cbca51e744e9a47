/** What becomes of a link when its record changes in the CRM. */
import { describe, expect, it } from 'vitest';
import { endLink } from '../../../src/connector/links.ts';
import { acceptMatch } from '../../../src/connector/match.ts';
import { readKept, writeKept } from '../../../src/store/keep.ts';
import { A, B, newGround, numberOf } from './ground.ts';

describe('a link', () => {
  it('ends when its record is deleted, and begins again when that is restored', async () => {
    const ground = await newGround('sqlite', { autoLink: false });
    ground.put('7', { cvr: numberOf(A) });
    await ground.link('7', A);
    await ground.settle(0);
    expect(ground.items()).toEqual([`${A} 7`]);
    ground.remove('7');
    await ground.hint('7');
    await ground.settle(0);
    expect([await ground.row('7'), ground.items()]).toMatchObject([
      { state: 'gone', reason: 'deleted in the CRM' },
      [],
    ]);
    ground.put('7', { cvr: numberOf(A) });
    await ground.hint('7');
    await ground.settle(0);
    expect([await ground.row('7'), ground.items()]).toMatchObject([{ state: 'active', entity: A }, [`${A} 7`]]);
  });

  it('made by hand begins again with its record too, whatever number that holds', async () => {
    const ground = await newGround('sqlite', { autoLink: false });
    await ground.link('7', A, 'person');
    await ground.hint('7');
    await ground.settle(0);
    expect(await ground.row('7')).toMatchObject({ state: 'gone' });
    ground.put('7', { cvr: null });
    await ground.hint('7');
    await ground.settle(0);
    expect(await ground.row('7')).toMatchObject({ state: 'active', origin: 'person' });
  });

  it('that a person kept against its number is kept when its record is deleted and restored', async () => {
    for (const number of [numberOf(B), null, 'none']) {
      const ground = await newGround('sqlite');
      ground.put('7', { cvr: number });
      await ground.link('7', A);
      const doubt = number === numberOf(B) ? B : (number ?? '');
      await ground.store.write((tx) => tx.updateTable('link').set({ doubt }).execute());
      await ground.hint('7');
      await ground.settle(0);
      ground.remove('7');
      await ground.hint('7');
      await ground.settle(0);
      expect(await ground.row('7')).toMatchObject({ state: 'gone' });
      ground.put('7', { cvr: number });
      for (const _ of [1, 2]) {
        await ground.hint('7');
        await ground.settle(0);
      }
      expect([await ground.row('7'), ground.items()]).toMatchObject([
        { state: 'active', entity: A, doubt },
        [`${A} 7`],
      ]);
      ground.put('7', { cvr: numberOf(A) });
      await ground.hint('7');
      await ground.settle(0);
      expect(await ground.row('7')).toMatchObject({ state: 'active', entity: A, doubt: null });
    }
  });

  it('that a person ended stays ended, restored or edited', async () => {
    const ground = await newGround('sqlite');
    ground.put('7', { cvr: numberOf(A) });
    await ground.link('7', A);
    await ground.settle(0);
    const end = { provider: 'crm', recordId: '7', state: 'removed', reason: 'by hand', now: ground.now } as const;
    await ground.store.write((tx) => endLink(tx, end));
    await ground.hint('7');
    await ground.settle();
    expect([await ground.row('7'), ground.items()]).toMatchObject([{ state: 'removed' }, []]);
  });

  it('that a person ended after its record was deleted stays ended when that is restored', async () => {
    const ground = await newGround('sqlite');
    await ground.link('7', A);
    await ground.hint('7');
    await ground.settle(0);
    const end = { provider: 'crm', recordId: '7', state: 'removed', reason: 'by hand', now: ground.now } as const;
    await ground.store.write((tx) => endLink(tx, end));
    ground.put('7', { cvr: numberOf(A) });
    await ground.hint('7');
    await ground.settle();
    expect(await ground.row('7')).toMatchObject({ state: 'removed', origin: 'person' });
  });

  it('follows its number to another company, once upstream has let go of the first', async () => {
    const ground = await newGround('sqlite', { autoLink: false });
    ground.put('7', { cvr: numberOf(A) });
    await ground.link('7', A);
    await ground.settle(0);
    ground.put('7', { cvr: `DK ${numberOf(B)}` });
    ground.answer = { kind: 'unavailable', message: 'down' };
    await ground.hint('7');
    await ground.settle(30_000);
    expect([await ground.row('7'), ground.items()]).toMatchObject([{ state: 'removed', entity: A }, [`${A} 7`]]);
    expect(await ground.lanes('heal:crm')).toMatchObject([{ error: expect.stringContaining(A), parked_at: null }]);
    ground.answer = undefined;
    await ground.settle(120_000);
    expect([await ground.row('7'), ground.items()]).toMatchObject([{ state: 'active', entity: B }, [`${B} 7`]]);
    expect(await ground.lanes('heal:crm')).toEqual([]);
  });

  it('ends where the number was taken out, and begins again where it is filled in', async () => {
    const ground = await newGround('sqlite', { autoLink: false });
    ground.put('7', { cvr: numberOf(A) });
    await ground.link('7', A);
    await ground.settle(0);
    ground.put('7', { cvr: ' ' });
    await ground.hint('7');
    await ground.settle();
    expect([await ground.row('7'), ground.items()]).toMatchObject([{ state: 'removed', origin: 'number' }, []]);
    ground.put('7', { cvr: numberOf(A) });
    await ground.hint('7');
    await ground.settle();
    expect([await ground.row('7'), ground.items()]).toMatchObject([{ state: 'active' }, [`${A} 7`]]);
  });

  it('waits for a person where the number is mistyped, is monitored meanwhile, and heals when it is corrected', async () => {
    const ground = await newGround('sqlite', { autoLink: false });
    ground.put('7', { cvr: '1000001' });
    await ground.link('7', A);
    await ground.hint('7');
    await ground.settle();
    expect([await ground.row('7'), ground.items()]).toMatchObject([
      { state: 'conflict', reason: expect.stringContaining('1000001') },
      [`${A} 7`],
    ]);
    ground.put('7', { cvr: numberOf(A) });
    await ground.hint('7');
    await ground.settle();
    expect(await ground.row('7')).toMatchObject({ state: 'active', doubt: null, reason: null });
  });

  it('still gets the update that was asked for before its number was in doubt', async () => {
    const ground = await newGround('sqlite');
    ground.put('7', { cvr: numberOf(A) });
    await ground.hint('7');
    await ground.healOnce();
    for (const cvr of ['oops', numberOf(A)]) {
      ground.put('7', { cvr });
      await ground.hint('7');
      await ground.healOnce();
    }
    expect(await ground.row('7')).toMatchObject({ state: 'active', send_update: 1 });
  });

  it('made by hand waits for a person where the record holds the number of another company', async () => {
    const ground = await newGround('sqlite');
    for (const cvr of [null, 'none', numberOf(A)]) {
      ground.put('7', { cvr });
      await ground.link('7', A, 'person');
      await ground.hint('7');
      await ground.settle();
      expect(await ground.row('7')).toMatchObject({ state: 'active' });
    }
    ground.put('7', { cvr: numberOf(B) });
    await ground.hint('7');
    await ground.settle();
    expect([await ground.row('7'), ground.items()]).toMatchObject([
      { state: 'conflict', entity: A, reason: expect.stringContaining(B) },
      [`${A} 7`],
    ]);
    ground.put('7', { cvr: null });
    await ground.hint('7');
    await ground.settle();
    expect(await ground.row('7')).toMatchObject({ state: 'active', doubt: null });
  });

  it('of a production unit is not doubted for the number of its company', async () => {
    const ground = await newGround('sqlite');
    ground.put('7', { cvr: numberOf(A) });
    await ground.link('7', 'CVR-2-1000000001', 'person');
    await ground.hint('7');
    await ground.settle();
    expect(await ground.row('7')).toMatchObject({ state: 'active', entity: 'CVR-2-1000000001' });
  });

  it('is left as it is where the property of the number cannot be seen', async () => {
    const ground = await newGround('sqlite');
    ground.schema.splice(0, 1);
    ground.put('7', { cvr: null });
    await ground.link('7', A);
    await ground.hint('7', '8');
    await ground.settle();
    expect([await ground.row('7'), await ground.row('8')]).toMatchObject([{ state: 'active' }, undefined]);
    ground.remove('7');
    await ground.hint('7');
    await ground.settle();
    expect(await ground.row('7')).toMatchObject({ state: 'gone' });
  });

  it('is left as it is where the property of the number was taken away a moment ago', async () => {
    const ground = await newGround('sqlite');
    ground.put('7', { cvr: numberOf(A) });
    await ground.link('7', A);
    await ground.hint('7');
    await ground.settle();
    // As HubSpot answers: a property that is not there is blank.
    ground.schema.splice(0, 1);
    ground.put('7', {});
    await ground.hint('7');
    await ground.settle();
    expect([await ground.row('7'), ground.items()]).toMatchObject([{ state: 'active' }, [`${A} 7`]]);
  });

  it('is left as it is where the number is looked for in another property than before, until a backfill', async () => {
    const ground = await newGround('sqlite');
    const { store } = ground;
    ground.put('7', { cvr: null });
    ground.put('8', { cvr: numberOf(B) });
    await ground.link('7', A);
    await store.write((tx) => writeKept(tx, 'match:crm', 'the property of before', 1));
    await ground.hint('7', '8');
    await ground.settle();
    expect([await ground.row('7'), await ground.row('8')]).toMatchObject([{ state: 'active' }, undefined]);
    await store.write((tx) => acceptMatch(tx, 'crm', 'cvr', 1));
    await ground.hint('7', '8');
    await ground.settle();
    expect([await ground.row('7'), await ground.row('8')]).toMatchObject([{ state: 'removed' }, { state: 'active' }]);
  });

  it('does not keep another property from being chosen before there is a link', async () => {
    const ground = await newGround('sqlite');
    await ground.store.write((tx) => writeKept(tx, 'match:crm', 'the property of before', 1));
    ground.put('8', { cvr: numberOf(B) });
    await ground.hint('8');
    await ground.settle();
    expect([await ground.row('8'), await readKept(ground.store.db, 'match:crm')]).toMatchObject([
      { state: 'active' },
      'cvr',
    ]);
  });

  it('is left as it is where the credentials belong to another account', async () => {
    const ground = await newGround('sqlite');
    await ground.link('7', A);
    const key = 'account:crm';
    await ground.store.write((tx) =>
      tx.insertInto('keep').values({ key, value: 'the account of before', updated_at: 1 }).execute(),
    );
    await ground.hint('7');
    await ground.settle();
    expect([await ground.row('7'), ground.reads]).toMatchObject([{ state: 'active' }, []]);
    expect(await ground.lanes('heal:crm')).toMatchObject([{ error: expect.stringContaining('the account of before') }]);
  });

  it('of a record on hold is looked at again later, and follows once the hold ends', async () => {
    const ground = await newGround('sqlite', { hold: 'hold' });
    ground.put('7', { cvr: numberOf(B), hold: 'yes' });
    await ground.link('7', A);
    await ground.hint('7');
    await ground.settle();
    expect(await ground.row('7')).toMatchObject({ state: 'active', entity: A });
    ground.put('7', { cvr: numberOf(B), hold: null });
    ground.now += 7 * 3_600_000;
    await ground.settle();
    expect(await ground.row('7')).toMatchObject({ state: 'active', entity: B });
  });

  it('is told of in the history of its company', async () => {
    const ground = await newGround('sqlite');
    ground.put('7', { cvr: numberOf(A) });
    await ground.hint('7');
    await ground.settle();
    ground.remove('7');
    await ground.hint('7');
    await ground.settle();
    const rows = await ground.store.db.selectFrom('history').select(['entity', 'record_id', 'outcome']).execute();
    expect(rows).toEqual([
      { entity: A, record_id: '7', outcome: 'linked' },
      { entity: A, record_id: '7', outcome: 'gone' },
    ]);
  });
});
