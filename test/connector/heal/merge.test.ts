/** Merges, in whichever order the CRM reports them and the deletions that come with them. */
import { describe, expect, it } from 'vitest';
import { endLink } from '../../../src/connector/links/links.ts';
import { healQueue } from '../../../src/connector/names/queues.ts';
import { resolveReview } from '../../../src/connector/review/resolve.ts';
import { ENGINES } from '../../support/stores.ts';
import { A, B, type Fixture, newFixture, numberOf, report } from './fixture.ts';

const statesOf = async (fixture: Fixture, ...ids: string[]) =>
  Promise.all(ids.map(async (id) => [(await fixture.row(id))?.state, (await fixture.row(id))?.entity]));

describe.each(ENGINES)('a merge on %s', (engine) => {
  it('moves the link with all its state to the new record', async () => {
    const fixture = await newFixture(engine, { autoLink: false });
    fixture.put('9', { cvr: numberOf(A) });
    fixture.merge('7', '9');
    await fixture.link('7', A);
    await fixture.store.write((tx) => tx.updateTable('link').set({ trust: 'register' }).execute());
    await fixture.settle(0);
    await report(fixture, '7');
    expect([await fixture.row('7'), await fixture.row('9'), fixture.items()]).toMatchObject([
      { state: 'merged' },
      { state: 'active', entity: A, origin: 'number', trust: 'register' },
      [`${A} 9`],
    ]);
  });

  it('has the same result in any order of its events, and with repetitions', async () => {
    for (const order of [
      ['gone', 'moved'],
      ['moved', 'gone'],
      ['gone', 'gone', 'moved', 'moved'],
    ]) {
      const fixture = await newFixture(engine, { autoLink: false });
      await fixture.link('7', A);
      await fixture.settle(0);
      fixture.put('9', { cvr: numberOf(A) });
      for (const reported of order) {
        // What a read shows once it showed the merge, it shows from then on.
        if (reported === 'moved') fixture.merge('7', '9');
        await report(fixture, '7', '9');
      }
      expect([await statesOf(fixture, '7', '9'), fixture.items()]).toEqual([
        [
          ['merged', A],
          ['active', A],
        ],
        [`${A} 9`],
      ]);
    }
  });

  it('of two records of one company leaves one link', async () => {
    const fixture = await newFixture(engine);
    fixture.put('9', { cvr: numberOf(A) });
    for (const id of ['7', '8']) {
      fixture.merge(id, '9');
      await fixture.link(id, A);
    }
    await fixture.settle(0);
    await report(fixture, '8', '9', '7');
    expect([await statesOf(fixture, '7', '8', '9'), fixture.items()]).toEqual([
      [
        ['merged', A],
        ['merged', A],
        ['active', A],
      ],
      [`${A} 9`],
    ]);
  });

  it('of two companies leaves both to a person, even if the deletions arrive first', async () => {
    for (const isDeletedFirst of [false, true]) {
      const fixture = await newFixture(engine);
      await fixture.link('7', A);
      await fixture.link('8', B);
      await fixture.settle(0);
      if (isDeletedFirst) await report(fixture, '7', '8');
      fixture.put('9', { cvr: numberOf(A) });
      fixture.merge('7', '9');
      fixture.merge('8', '9');
      await report(fixture, '7', '8', '9');
      expect([await statesOf(fixture, '7', '8', '9'), fixture.items()]).toEqual([
        [
          ['merged', A],
          ['conflict', B],
          ['conflict', A],
        ],
        [`${A} 9`, `${B} 8`],
      ]);
      await report(fixture, '9', '8', '7');
      expect(await statesOf(fixture, '8', '9')).toEqual([
        ['conflict', B],
        ['conflict', A],
      ]);
      await fixture.store.write((tx) => resolveReview(tx, 'accept', 'link/crm/9', fixture.now));
      await fixture.store.write((tx) => resolveReview(tx, 'keep', 'link/crm/8', fixture.now));
      await report(fixture, '9', '8');
      expect([await statesOf(fixture, '8', '9'), fixture.items()]).toEqual([
        [
          ['removed', B],
          ['active', A],
        ],
        [`${A} 9`],
      ]);
    }
  });

  it('is followed along a chain', async () => {
    const fixture = await newFixture(engine, { autoLink: false });
    await fixture.link('7', A);
    fixture.merge('7', '8');
    fixture.merge('8', '9');
    fixture.put('9', { cvr: numberOf(A) });
    await report(fixture, '7');
    expect([await statesOf(fixture, '7', '8', '9'), fixture.items()]).toEqual([
      [
        ['merged', A],
        ['merged', A],
        ['active', A],
      ],
      [`${A} 9`],
    ]);
  });

  it('into a deleted record ends the link', async () => {
    const fixture = await newFixture(engine, { autoLink: false });
    await fixture.link('7', A);
    fixture.merge('7', '9');
    await report(fixture, '7');
    expect([await statesOf(fixture, '7', '9'), fixture.items()]).toEqual([
      [
        ['gone', A],
        [undefined, undefined],
      ],
      [],
    ]);
    expect(await fixture.row('7')).toMatchObject({ reason: 'merged into 9, which the CRM does not hold' });
    fixture.put('7', { cvr: numberOf(A) });
    await report(fixture, '7');
    expect([await statesOf(fixture, '7'), fixture.items()]).toEqual([[['active', A]], [`${A} 7`]]);
  });

  it('moves no link before the new record was read', async () => {
    const fixture = await newFixture(engine, { autoLink: false });
    await fixture.link('7', A);
    fixture.merge('7', '9');
    fixture.hide('9');
    await fixture.settle(0);
    await report(fixture, '7');
    expect(await statesOf(fixture, '7', '9')).toEqual([
      ['active', A],
      [undefined, undefined],
    ]);
    expect(await fixture.lanes(healQueue('crm'))).toMatchObject([{ key: '7', error: 'hidden just now' }]);
    fixture.put('9', { cvr: numberOf(A) });
    await fixture.settle();
    expect([await statesOf(fixture, '7', '9'), fixture.items()]).toEqual([
      [
        ['merged', A],
        ['active', A],
      ],
      [`${A} 9`],
    ]);
  });

  it('into a record without a number keeps the link, until a person enters one and removes it again', async () => {
    const fixture = await newFixture(engine);
    await fixture.link('7', A);
    fixture.merge('7', '9');
    fixture.put('9', { cvr: null });
    await report(fixture, '7', '9');
    expect([await statesOf(fixture, '9'), fixture.items()]).toEqual([[['active', A]], [`${A} 9`]]);
    fixture.put('9', { cvr: numberOf(A) });
    await report(fixture, '9');
    expect(await fixture.row('9')).toMatchObject({ state: 'active', mismatch: null });
    fixture.put('9', { cvr: null });
    await report(fixture, '9');
    expect([await statesOf(fixture, '9'), fixture.items()]).toEqual([[['removed', A]], []]);
  });

  it('into a record that holds the number of another company waits for a person', async () => {
    const fixture = await newFixture(engine, { autoLink: false });
    await fixture.link('7', A);
    fixture.merge('7', '9');
    fixture.put('9', { cvr: numberOf(B) });
    await report(fixture, '7');
    expect([await fixture.row('9'), fixture.items()]).toMatchObject([
      { state: 'conflict', entity: A, reason: expect.stringContaining(B) },
      [`${A} 9`],
    ]);
  });

  it('waits if the survivor has a link that the service has not removed yet', async () => {
    const fixture = await newFixture(engine, { autoLink: false });
    await fixture.link('7', A);
    await fixture.link('9', B, 'person');
    await fixture.settle(0);
    fixture.answer = { kind: 'unavailable', message: 'down' };
    const end = { provider: 'crm', recordId: '9', state: 'removed', reason: 'by hand', now: fixture.now } as const;
    await fixture.store.write((tx) => endLink(tx, end));
    fixture.merge('7', '9');
    fixture.put('9', { cvr: numberOf(A) });
    await report(fixture, '7');
    expect(await statesOf(fixture, '7', '9')).toEqual([
      ['active', A],
      ['removed', B],
    ]);
    fixture.answer = undefined;
    await fixture.settle(600_000);
    expect([await statesOf(fixture, '7', '9'), fixture.items()]).toEqual([
      [
        ['merged', A],
        ['active', A],
      ],
      [`${A} 9`],
    ]);
  });

  it('of a record that a person unlinked does not link its survivor by itself', async () => {
    const fixture = await newFixture(engine);
    await fixture.link('7', A);
    const end = { provider: 'crm', recordId: '7', state: 'removed', reason: 'by hand', now: fixture.now } as const;
    await fixture.store.write((tx) => endLink(tx, end));
    fixture.merge('7', '9');
    fixture.put('9', { cvr: numberOf(A) });
    await report(fixture, '7', '9');
    expect([await statesOf(fixture, '9'), fixture.items()]).toEqual([[['removed', A]], []]);
  });

  it('of records without a link links the survivor by its number if autoLink is on', async () => {
    const fixture = await newFixture(engine);
    fixture.merge('7', '9');
    fixture.put('9', { cvr: numberOf(A) });
    await report(fixture, '7');
    expect(await statesOf(fixture, '7', '9')).toEqual([
      [undefined, undefined],
      ['active', A],
    ]);
  });

  it('of a record with its rival ends the conflict', async () => {
    const fixture = await newFixture(engine);
    await fixture.link('7', A);
    fixture.put('7', { cvr: numberOf(A) });
    fixture.put('8', { cvr: numberOf(A) });
    await report(fixture, '8');
    expect(await statesOf(fixture, '8')).toEqual([['conflict', A]]);
    // Salesforce: the winner keeps its id, here the one that was in question.
    fixture.merge('7', '8');
    await report(fixture, '7');
    expect([await statesOf(fixture, '7', '8'), fixture.items()]).toEqual([
      [
        ['merged', A],
        ['active', A],
      ],
      [`${A} 8`],
    ]);
  });
});
