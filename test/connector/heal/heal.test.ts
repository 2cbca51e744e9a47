/** What becomes of a link when its record changes in the CRM. */
import { describe, expect, it } from 'vitest';
import { acceptMatch } from '../../../src/connector/follow/match-property.ts';
import { endLink } from '../../../src/connector/links/links.ts';
import { readValue, writeValue } from '../../../src/store/kv.ts';
import { A, B, newFixture, numberOf } from './fixture.ts';

describe('a link', () => {
  it('ends when its record is deleted, and begins again when that is restored', async () => {
    const fixture = await newFixture('sqlite', { autoLink: false });
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.link('7', A);
    await fixture.settle(0);
    expect(fixture.items()).toEqual([`${A} 7`]);
    fixture.remove('7');
    await fixture.hint('7');
    await fixture.settle(0);
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([
      { state: 'gone', reason: 'deleted in the CRM' },
      [],
    ]);
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.hint('7');
    await fixture.settle(0);
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([{ state: 'active', entity: A }, [`${A} 7`]]);
  });

  it('made by hand begins again with its restored record, with any number', async () => {
    const fixture = await newFixture('sqlite', { autoLink: false });
    await fixture.link('7', A, 'person');
    await fixture.hint('7');
    await fixture.settle(0);
    expect(await fixture.row('7')).toMatchObject({ state: 'gone' });
    fixture.put('7', { cvr: null });
    await fixture.hint('7');
    await fixture.settle(0);
    expect(await fixture.row('7')).toMatchObject({ state: 'active', origin: 'person' });
  });

  it('that a person kept against its number stays kept when its record is deleted and restored', async () => {
    for (const number of [numberOf(B), null, 'none']) {
      const fixture = await newFixture('sqlite');
      fixture.put('7', { cvr: number });
      await fixture.link('7', A);
      const mismatch = number === numberOf(B) ? B : (number ?? '');
      await fixture.store.write((tx) => tx.updateTable('link').set({ mismatch }).execute());
      await fixture.hint('7');
      await fixture.settle(0);
      fixture.remove('7');
      await fixture.hint('7');
      await fixture.settle(0);
      expect(await fixture.row('7')).toMatchObject({ state: 'gone' });
      fixture.put('7', { cvr: number });
      for (const _ of [1, 2]) {
        await fixture.hint('7');
        await fixture.settle(0);
      }
      expect([await fixture.row('7'), fixture.items()]).toMatchObject([
        { state: 'active', entity: A, mismatch },
        [`${A} 7`],
      ]);
      fixture.put('7', { cvr: numberOf(A) });
      await fixture.hint('7');
      await fixture.settle(0);
      expect(await fixture.row('7')).toMatchObject({ state: 'active', entity: A, mismatch: null });
    }
  });

  it('that a person ended stays ended when its record is restored or edited', async () => {
    const fixture = await newFixture('sqlite');
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.link('7', A);
    await fixture.settle(0);
    const end = { provider: 'crm', recordId: '7', state: 'removed', reason: 'by hand', now: fixture.now } as const;
    await fixture.store.write((tx) => endLink(tx, end));
    await fixture.hint('7');
    await fixture.settle();
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([{ state: 'removed' }, []]);
  });

  it('that a person ended after its record was deleted stays ended when that is restored', async () => {
    const fixture = await newFixture('sqlite');
    await fixture.link('7', A);
    await fixture.hint('7');
    await fixture.settle(0);
    const end = { provider: 'crm', recordId: '7', state: 'removed', reason: 'by hand', now: fixture.now } as const;
    await fixture.store.write((tx) => endLink(tx, end));
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.hint('7');
    await fixture.settle();
    expect(await fixture.row('7')).toMatchObject({ state: 'removed', origin: 'person' });
  });

  it('follows its number to another company, once the service removed the first', async () => {
    const fixture = await newFixture('sqlite', { autoLink: false });
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.link('7', A);
    await fixture.settle(0);
    fixture.put('7', { cvr: `DK ${numberOf(B)}` });
    fixture.answer = { kind: 'unavailable', message: 'down' };
    await fixture.hint('7');
    await fixture.settle(30_000);
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([{ state: 'removed', entity: A }, [`${A} 7`]]);
    expect(await fixture.lanes('heal:crm')).toMatchObject([{ error: expect.stringContaining(A), parked_at: null }]);
    fixture.answer = undefined;
    await fixture.settle(120_000);
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([{ state: 'active', entity: B }, [`${B} 7`]]);
    expect(await fixture.lanes('heal:crm')).toEqual([]);
  });

  it('ends if the number is removed, and begins again if it is entered', async () => {
    const fixture = await newFixture('sqlite', { autoLink: false });
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.link('7', A);
    await fixture.settle(0);
    fixture.put('7', { cvr: ' ' });
    await fixture.hint('7');
    await fixture.settle();
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([{ state: 'removed', origin: 'number' }, []]);
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.hint('7');
    await fixture.settle();
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([{ state: 'active' }, [`${A} 7`]]);
  });

  it('waits for a person if the number is mistyped, stays monitored, and resumes when it is corrected', async () => {
    const fixture = await newFixture('sqlite', { autoLink: false });
    fixture.put('7', { cvr: '1000001' });
    await fixture.link('7', A);
    await fixture.hint('7');
    await fixture.settle();
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([
      { state: 'conflict', reason: expect.stringContaining('1000001') },
      [`${A} 7`],
    ]);
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.hint('7');
    await fixture.settle();
    expect(await fixture.row('7')).toMatchObject({ state: 'active', mismatch: null, reason: null });
  });

  it('still gets the update that was requested before its number was doubtful', async () => {
    const fixture = await newFixture('sqlite');
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.hint('7');
    await fixture.healOnce();
    for (const cvr of ['oops', numberOf(A)]) {
      fixture.put('7', { cvr });
      await fixture.hint('7');
      await fixture.healOnce();
    }
    expect(await fixture.row('7')).toMatchObject({ state: 'active', send_update: 1 });
  });

  it('made by hand waits for a person if the record holds the number of another company', async () => {
    const fixture = await newFixture('sqlite');
    for (const cvr of [null, 'none', numberOf(A)]) {
      fixture.put('7', { cvr });
      await fixture.link('7', A, 'person');
      await fixture.hint('7');
      await fixture.settle();
      expect(await fixture.row('7')).toMatchObject({ state: 'active' });
    }
    fixture.put('7', { cvr: numberOf(B) });
    await fixture.hint('7');
    await fixture.settle();
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([
      { state: 'conflict', entity: A, reason: expect.stringContaining(B) },
      [`${A} 7`],
    ]);
    fixture.put('7', { cvr: null });
    await fixture.hint('7');
    await fixture.settle();
    expect(await fixture.row('7')).toMatchObject({ state: 'active', mismatch: null });
  });

  it('of a production unit does not conflict with the number of its company', async () => {
    const fixture = await newFixture('sqlite');
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.link('7', 'CVR-2-1000000001', 'person');
    await fixture.hint('7');
    await fixture.settle();
    expect(await fixture.row('7')).toMatchObject({ state: 'active', entity: 'CVR-2-1000000001' });
  });

  it('does not change if the property of the number is not visible', async () => {
    const fixture = await newFixture('sqlite');
    fixture.schema.splice(0, 1);
    fixture.put('7', { cvr: null });
    await fixture.link('7', A);
    await fixture.hint('7', '8');
    await fixture.settle();
    expect([await fixture.row('7'), await fixture.row('8')]).toMatchObject([{ state: 'active' }, undefined]);
    fixture.remove('7');
    await fixture.hint('7');
    await fixture.settle();
    expect(await fixture.row('7')).toMatchObject({ state: 'gone' });
  });

  it('does not change if the property of the number was just removed', async () => {
    const fixture = await newFixture('sqlite');
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.link('7', A);
    await fixture.hint('7');
    await fixture.settle();
    // As HubSpot answers: a property that is not there is blank.
    fixture.schema.splice(0, 1);
    fixture.put('7', {});
    await fixture.hint('7');
    await fixture.settle();
    expect([await fixture.row('7'), fixture.items()]).toMatchObject([{ state: 'active' }, [`${A} 7`]]);
  });

  it('does not change if match names another property, until a backfill', async () => {
    const fixture = await newFixture('sqlite');
    const { store } = fixture;
    fixture.put('7', { cvr: null });
    fixture.put('8', { cvr: numberOf(B) });
    await fixture.link('7', A);
    await store.write((tx) => writeValue(tx, 'match:crm', 'the property of before', 1));
    await fixture.hint('7', '8');
    await fixture.settle();
    expect([await fixture.row('7'), await fixture.row('8')]).toMatchObject([{ state: 'active' }, undefined]);
    await store.write((tx) => acceptMatch(tx, 'crm', 'cvr', 1));
    await fixture.hint('7', '8');
    await fixture.settle();
    expect([await fixture.row('7'), await fixture.row('8')]).toMatchObject([{ state: 'removed' }, { state: 'active' }]);
  });

  it('does not prevent another property of match before the first link', async () => {
    const fixture = await newFixture('sqlite');
    await fixture.store.write((tx) => writeValue(tx, 'match:crm', 'the property of before', 1));
    fixture.put('8', { cvr: numberOf(B) });
    await fixture.hint('8');
    await fixture.settle();
    expect([await fixture.row('8'), await readValue(fixture.store.db, 'match:crm')]).toMatchObject([
      { state: 'active' },
      'cvr',
    ]);
  });

  it('does not change if the credentials belong to another account', async () => {
    const fixture = await newFixture('sqlite');
    await fixture.link('7', A);
    const key = 'account:crm';
    await fixture.store.write((tx) =>
      tx.insertInto('kv').values({ key, value: 'the account of before', updated_at: 1 }).execute(),
    );
    await fixture.hint('7');
    await fixture.settle();
    expect([await fixture.row('7'), fixture.reads]).toMatchObject([{ state: 'active' }, []]);
    expect(await fixture.lanes('heal:crm')).toMatchObject([
      { error: expect.stringContaining('the account of before') },
    ]);
  });

  it('of a held record is checked again later, and follows once the hold ends', async () => {
    const fixture = await newFixture('sqlite', { hold: 'hold' });
    fixture.put('7', { cvr: numberOf(B), hold: 'yes' });
    await fixture.link('7', A);
    await fixture.hint('7');
    await fixture.settle();
    expect(await fixture.row('7')).toMatchObject({ state: 'active', entity: A });
    fixture.put('7', { cvr: numberOf(B), hold: null });
    fixture.now += 7 * 3_600_000;
    await fixture.settle();
    expect(await fixture.row('7')).toMatchObject({ state: 'active', entity: B });
  });

  it('appears in the history of its company', async () => {
    const fixture = await newFixture('sqlite');
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.hint('7');
    await fixture.settle();
    fixture.remove('7');
    await fixture.hint('7');
    await fixture.settle();
    const rows = await fixture.store.db.selectFrom('history').select(['entity', 'record_id', 'outcome']).execute();
    expect(rows).toEqual([
      { entity: A, record_id: '7', outcome: 'linked' },
      { entity: A, record_id: '7', outcome: 'gone' },
    ]);
  });
});
