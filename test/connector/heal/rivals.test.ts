/** Two records with the number of one company: the question ends by itself when one of them leaves. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { endLink } from '../../../src/connector/links/links.ts';
import { resolveReview } from '../../../src/connector/review/resolve.ts';
import { readReview } from '../../../src/connector/review/review-list.ts';
import { takeBack } from '../../../src/connector/review/take-back.ts';
import { ENGINES } from '../../support/stores.ts';
import { A, B, type Fixture, newFixture, numberOf, report } from './fixture.ts';

const withNumber = async (fixture: Fixture, ...ids: string[]): Promise<void> => {
  for (const id of ids) fixture.put(id, { cvr: numberOf(A) });
  await fixture.hint(...ids);
  await fixture.settle();
};

/** The first of two records is linked, and the second in conflict with it. */
async function rivals(engine: (typeof ENGINES)[number]): Promise<Fixture> {
  const fixture = await newFixture(engine);
  await withNumber(fixture, '7');
  await withNumber(fixture, '8');
  return fixture;
}

const states = (fixture: Fixture, ...ids: string[]) =>
  Promise.all(ids.map(async (id) => (await fixture.row(id))?.state));

const review = ({ store, now }: Fixture) => readReview(store.db, now);

const LEAVES: readonly (readonly [string, (fixture: Fixture) => unknown])[] = [
  ['is deleted', ({ remove }) => remove('7')],
  ['gets the number of another company', ({ put }) => put('7', { cvr: numberOf(B) })],
  ['loses its number', ({ put }) => put('7', { cvr: null })],
  ['is merged into it', ({ merge }) => merge('7', '8')],
];

describe.each(ENGINES)('a record in conflict with another one of its company on %s', (engine) => {
  it.each(LEAVES)('is linked when the other %s', async (_, leave) => {
    const fixture = await rivals(engine);
    leave(fixture);
    await report(fixture, '7');
    expect([await states(fixture, '8'), await review(fixture)]).toEqual([['active'], []]);
    expect(fixture.items()).toContain(`${A} 8`);
  });

  it.each([
    ['text', 'ask Jens'],
    ['number that fails its check', '20000008'],
  ])('is resolved, and the other is linked, when its own number becomes a %s', async (_, cvr) => {
    const fixture = await newFixture(engine);
    await withNumber(fixture, '7', '8');
    expect(await states(fixture, '7', '8')).toEqual(['conflict', 'conflict']);
    fixture.put('8', { cvr });
    await report(fixture, '8');
    expect([await states(fixture, '7', '8'), await review(fixture), fixture.items()]).toEqual([
      ['active', 'removed'],
      [],
      [`${A} 7`],
    ]);
  });

  it('names the record that replaced the other', async () => {
    const fixture = await rivals(engine);
    fixture.put('9', { cvr: numberOf(A) });
    fixture.merge('7', '9');
    await report(fixture, '7');
    expect(await states(fixture, '7', '8', '9')).toEqual(['merged', 'conflict', 'active']);
    expect(await review(fixture)).toMatchObject([{ id: 'link/crm/8', reason: expect.stringContaining('record 9') }]);
  });

  it('is linked even if a person undoes an answer after the other left', async () => {
    const fixture = await rivals(engine);
    await fixture.store.write((tx) => resolveReview(tx, 'keep', 'link/crm/8', fixture.now));
    fixture.remove('7');
    await report(fixture, '7');
    expect(await states(fixture, '7', '8')).toEqual(['gone', 'removed']);
    await fixture.store.write((tx) => takeBack(tx, 'link/crm/8', fixture.now));
    await fixture.settle();
    expect([await states(fixture, '8'), await review(fixture)]).toEqual([['active'], []]);
  });

  it('is linked even if the other leaves while the conflict is found', async () => {
    const fixture = await newFixture(engine);
    await withNumber(fixture, '7');
    fixture.put('8', { cvr: numberOf(A) });
    await fixture.hint('8');
    const { store, now } = fixture;
    const reported = Promise.withResolvers<void>();
    const isOver = { value: false };
    const unlinking = store.write(async (tx) => {
      await endLink(tx, { provider: 'crm', recordId: '7', state: 'removed', reason: 'by hand', now });
      await reported.promise;
    });
    const healing = fixture.healOnce().finally(() => {
      isOver.value = true;
    });
    // On SQLite writes take turns anyway.
    while (engine === 'postgres' && !isOver.value) {
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(store.db);
      if (rows.length > 0) break;
    }
    reported.resolve();
    await Promise.all([unlinking, healing]);
    await fixture.settle();
    expect([await states(fixture, '7', '8'), await review(fixture)]).toEqual([['removed', 'active'], []]);
  });
});
