/** Records that are linked because they hold a number, and those that must not be. */
import { describe, expect, it } from 'vitest';
import { endLink } from '../../../src/connector/links/links.ts';
import { resolveReview } from '../../../src/connector/review/resolve.ts';
import { readReview } from '../../../src/connector/review/review-list.ts';
import { type ENGINES, SUITE_ENGINES } from '../../support/stores.ts';
import { A, B, type Fixture, newFixture, numberOf } from './fixture.ts';

/** Two records with the number of one company, the first of them linked. */
async function rivals(engine: (typeof ENGINES)[number]): Promise<Fixture> {
  const fixture = await newFixture(engine);
  fixture.put('7', { cvr: numberOf(A) });
  await fixture.hint('7');
  await fixture.settle();
  fixture.put('8', { cvr: numberOf(A) });
  await fixture.hint('8');
  await fixture.settle();
  return fixture;
}

const states = async (fixture: Fixture, ...ids: string[]) =>
  Promise.all(ids.map(async (id) => (await fixture.row(id))?.state));

describe.each(SUITE_ENGINES)('a record with a number on %s', (engine) => {
  it('is linked and monitored with a full update if autoLink is on', async () => {
    const fixture = await newFixture(engine);
    for (const [id, cvr] of [
      ['1', numberOf(A)],
      ['2', null],
      ['3', 'unknown'],
      ['4', '1000000123'],
    ] as const)
      fixture.put(id, { cvr });
    await fixture.hint('1', '2', '3', '4', '5');
    await fixture.healOnce();
    expect(await fixture.row('1')).toMatchObject({ entity: A, origin: 'number', trust: 'crm', send_update: 1 });
    await fixture.settle();
    expect([fixture.items(), await states(fixture, '2', '3', '4', '5')]).toEqual([
      [`${A} 1`],
      [undefined, undefined, undefined, undefined],
    ]);
    expect(await fixture.lanes('heal:crm')).toEqual([]);
  });

  it('is ignored without a call if links are made by hand', async () => {
    const fixture = await newFixture(engine, { autoLink: false });
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.hint('7');
    await fixture.settle();
    expect([await fixture.row('7'), fixture.reads, await fixture.lanes('heal:crm')]).toEqual([undefined, [], []]);
  });

  it.each([
    ['fails the check digit', '20000008'],
    ['lacks its leading zero', '1000004'],
    ['was padded with a zero', 1_000_004],
  ])('is not linked if the number %s, and a link does not follow that number', async (_, cvr) => {
    const fixture = await newFixture(engine);
    fixture.put('7', { cvr });
    fixture.put('8', { cvr: numberOf(A) });
    await fixture.hint('7', '8');
    await fixture.settle();
    expect([await fixture.row('7'), fixture.items()]).toEqual([undefined, [`${A} 8`]]);
    fixture.put('8', { cvr });
    await fixture.hint('8');
    await fixture.settle();
    expect(await fixture.row('8')).toMatchObject({ state: 'conflict', entity: A });
  });

  it('is ignored while it is held', async () => {
    const fixture = await newFixture(engine, { hold: 'hold' });
    fixture.put('7', { cvr: numberOf(A), hold: true });
    await fixture.hint('7');
    await fixture.settle();
    expect(await fixture.row('7')).toBeUndefined();
  });

  it('of a company with another record waits for a person, who may keep both', async () => {
    const fixture = await rivals(engine);
    expect([await states(fixture, '7', '8'), fixture.items()]).toEqual([['active', 'conflict'], [`${A} 7`]]);
    const [reported] = await readReview(fixture.store.db, fixture.now);
    expect(reported).toMatchObject({ id: 'link/crm/8', reason: expect.stringContaining('record 7') });
    await fixture.store.write((tx) => resolveReview(tx, 'accept', 'link/crm/8', fixture.now));
    await fixture.hint('7', '8');
    await fixture.settle();
    expect([await states(fixture, '7', '8'), fixture.items()]).toEqual([
      ['active', 'active'],
      [`${A} 7`, `${A} 8`],
    ]);
  });

  it('that a person rejected for the company is not proposed again, but linked to another company', async () => {
    const fixture = await rivals(engine);
    await fixture.store.write((tx) => resolveReview(tx, 'keep', 'link/crm/8', fixture.now));
    await fixture.hint('8');
    await fixture.settle();
    expect([await states(fixture, '7', '8'), await readReview(fixture.store.db, fixture.now)]).toEqual([
      ['active', 'removed'],
      [],
    ]);
    fixture.put('8', { cvr: numberOf(B) });
    await fixture.hint('8');
    await fixture.settle();
    expect([await fixture.row('8'), fixture.items()]).toMatchObject([
      { state: 'active', entity: B },
      [`${A} 7`, `${B} 8`],
    ]);
  });

  it('replaces a deleted record, in any order of the events', async () => {
    for (const order of [
      ['7', '8'],
      ['8', '7'],
    ]) {
      const fixture = await newFixture(engine);
      fixture.put('7', { cvr: numberOf(A) });
      await fixture.hint('7');
      await fixture.settle();
      fixture.put('8', { cvr: numberOf(A) });
      fixture.remove('7');
      for (const id of order) {
        await fixture.hint(id);
        await fixture.healOnce();
      }
      await fixture.settle();
      expect([await states(fixture, '7', '8'), fixture.items()]).toEqual([['gone', 'active'], [`${A} 8`]]);
    }
  });

  it('replaces a deleted record in one check of both', async () => {
    const fixture = await newFixture(engine);
    await fixture.link('8', A);
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.hint('7', '8');
    await fixture.healOnce();
    expect(await states(fixture, '7', '8')).toEqual(['active', 'gone']);
  });

  it('replaces a record that a person unlinked', async () => {
    const fixture = await rivals(engine);
    const end = { provider: 'crm', recordId: '7', state: 'removed', reason: 'by hand', now: fixture.now } as const;
    await fixture.store.write((tx) => endLink(tx, end));
    await fixture.settle();
    expect([await states(fixture, '7', '8'), fixture.items()]).toEqual([['removed', 'active'], [`${A} 8`]]);
  });

  it('that appears together with another of the same number waits for a person', async () => {
    const fixture = await newFixture(engine);
    for (const id of ['7', '8']) fixture.put(id, { cvr: numberOf(A) });
    await fixture.hint('7', '8');
    await fixture.settle();
    expect([await states(fixture, '7', '8'), fixture.items()]).toEqual([['conflict', 'conflict'], []]);
    fixture.put('8', { cvr: null });
    await fixture.hint('8');
    await fixture.settle();
    expect([await states(fixture, '7', '8'), fixture.items()]).toEqual([['active', 'removed'], [`${A} 7`]]);
  });

  it('waits for a person if it is restored after its replacement', async () => {
    const fixture = await newFixture(engine);
    await fixture.link('7', A);
    fixture.put('8', { cvr: numberOf(A) });
    await fixture.hint('7', '8');
    await fixture.settle();
    fixture.put('7', { cvr: numberOf(A) });
    await fixture.hint('7');
    await fixture.settle();
    expect([await states(fixture, '7', '8'), fixture.items()]).toEqual([['conflict', 'active'], [`${A} 8`]]);
  });

  it('is asked about again only if its number changes', async () => {
    const fixture = await newFixture(engine);
    fixture.put('7', { cvr: numberOf(B) });
    await fixture.link('7', A, 'person');
    await fixture.hint('7');
    await fixture.settle();
    await fixture.store.write((tx) => resolveReview(tx, 'accept', 'link/crm/7', fixture.now));
    await fixture.hint('7');
    await fixture.settle();
    expect(await states(fixture, '7')).toEqual(['active']);
    fixture.put('7', { cvr: '10000009' });
    await fixture.hint('7');
    await fixture.settle();
    expect(await states(fixture, '7')).toEqual(['conflict']);
  });
});
