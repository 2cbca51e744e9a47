/** How many losses the safety limit allows, over how many pages and days, and what it keeps. */
import { describe, expect, it, test } from 'vitest';
import { readReview } from '../../../src/connector/review/review-list.ts';
import type { Company } from '../../../src/service/register/document/company.ts';
import type { DocumentStep } from '../../../src/service/register/watch/find-steps.ts';
import { limitLosses, type Tally } from '../../../src/service/register/watch/safety-limit.ts';
import { allowWithheld, readWithheld, storeWithheld } from '../../../src/service/register/watch/withheld.ts';
import { ENGINES, newStore } from '../../support/stores.ts';
import { companyOf, name, person, relation, trulyOwns } from './documents.ts';

const DAY = 24 * 3_600_000;
const owner = (at: number) => relation(person(4_000_700_001 + at, `Ejer ${at}`), trulyOwns('0.5', '0.5'));
const ownedBy = (...owners: readonly number[]): Company => companyOf({ deltagerRelation: owners.map(owner) });
const [nobody, one, two, other] = [ownedBy(), ownedBy(1), ownedBy(1, 2), ownedBy(3)];

const row: DocumentStep['row'] = {
  entity: 'x',
  origins: 'cvr',
  digest: '',
  loaded_at: '',
  ahead: null,
  ahead_at: null,
  withheld: 0 as const,
  body: '{}',
};
const step = (before: Company, read: Company): DocumentStep => ({
  kind: 'company',
  unread: [],
  row,
  before,
  after: read,
  read,
});
const afterOf = (limited: DocumentStep | undefined): Company => {
  if (limited?.kind !== 'company') throw new Error('it is no company');
  return limited.after;
};
const page = (lost: number, seen: number): readonly DocumentStep[] =>
  Array.from({ length: seen }, (_, at) => step(one, at < lost ? nobody : one));
const owners = (lost: number, seen: number) => ({ beneficialOwners: { lost, seen } satisfies Tally });
const keeps = (steps: readonly DocumentStep[], before = {}, holds: readonly string[] = []): boolean =>
  limitLosses(steps, before, holds).withheld.includes('beneficialOwners');

describe('the safety limit keeps a kind of fact', () => {
  test.each([
    [9, 9, false],
    [10, 20, true],
    [10, 21, false],
    [29, 145, false],
    [30, 150, true],
    [30, 151, false],
  ])('if %i of %i companies lose it in one page: %s', (lost, seen, isKept) => {
    expect(keeps(page(lost, seen))).toBe(isKept);
  });

  it('if many lose it in one load, a few on each page', () => {
    expect([keeps(page(5, 10)), keeps(page(5, 10), owners(5, 10))]).toEqual([false, true]);
  });

  it('if all on one page lose it after many complete pages', () => {
    expect(keeps(page(10, 10), owners(0, 10_000))).toBe(true);
  });

  it('if a person has not decided about that kind yet, and about no other', () => {
    const few = page(1, 100);
    expect([keeps(few, {}, ['beneficialOwners']), keeps(few, {}, ['board'])]).toEqual([true, false]);
  });

  it('but not if a page has lost nothing of it', () => {
    expect(keeps(page(0, 10), owners(100, 100), ['beneficialOwners'])).toBe(false);
  });

  it('even if only some of the members leave and nobody follows them', () => {
    const many = (read: Company) => Array.from({ length: 10 }, () => step(two, read));
    expect([keeps(many(one)), keeps(many(nobody)), keeps(many(other))]).toEqual([true, true, false]);
  });

  it('but not of companies that end', () => {
    const ended = { ...nobody, life: { ...nobody.life, value: { ...nobody.life.value, ended: '2026-01-01' } } };
    expect(keeps(Array.from({ length: 20 }, () => step(one, ended)))).toBe(false);
  });

  it('and publishes all else of the same documents', () => {
    const read = companyOf({ deltagerRelation: [], navne: [name('Nyt Navn ApS')] });
    const [limited] = limitLosses(
      Array.from({ length: 10 }, () => step(one, read)),
      {},
      [],
    ).steps;
    expect(limited?.after).toMatchObject({ name: 'Nyt Navn ApS', bodies: { trueOwnership: one.bodies.trueOwnership } });
  });

  it('and goes on when a document says the same again later, among few others', () => {
    const [first] = limitLosses(page(10, 10), {}, []).steps;
    const [again] = limitLosses([step(afterOf(first), nobody)], {}, []).steps;
    expect(again?.after).toMatchObject({ bodies: { trueOwnership: one.bodies.trueOwnership } });
    const [back] = limitLosses([step(afterOf(first), one)], {}, []).steps;
    expect(back?.after).not.toHaveProperty('withheld');
  });
});

describe.each(ENGINES)('the count of the safety limit, on %s', (engine) => {
  const count = async (store: Awaited<ReturnType<typeof newStore>>, now: number) => {
    const state = await readWithheld(store.db, now);
    await store.write((tx) => storeWithheld(tx, state, { tallies: owners(5, 10), withheld: [] }, now));
  };

  it('covers a day, and no longer', async () => {
    const store = await newStore(engine);
    for (const now of [1, DAY]) await count(store, now);
    expect((await readWithheld(store.db, DAY + 1)).tallies).toEqual(owners(10, 20));
    expect((await readWithheld(store.db, DAY + 2)).tallies).toEqual({});
  });

  it('starts over after a person accepts the losses, and stops nothing for a week', async () => {
    const store = await newStore(engine);
    await count(store, 1);
    await store.write((tx) => allowWithheld(tx, 2));
    expect(await readWithheld(store.db, 3)).toMatchObject({ tallies: {}, isAllowed: true });
    expect((await readWithheld(store.db, 7 * DAY + 1)).isAllowed).toBe(true);
    expect((await readWithheld(store.db, 7 * DAY + 2)).isAllowed).toBe(false);
  });

  it('is shown to a person with all that one answer publishes', async () => {
    const store = await newStore(engine);
    const withhold = async (family: 'beneficialOwners' | 'board', now: number) => {
      const state = await readWithheld(store.db, now);
      const tallies = { [family]: { lost: now, seen: 20 } };
      await store.write((tx) => storeWithheld(tx, state, { tallies, withheld: [family] }, now));
    };
    const asked = () => readReview(store.db, 0, { kinds: ['lane'] });
    await withhold('beneficialOwners', 15);
    const [first] = await asked();
    await withhold('board', 16);
    const [second, ...more] = await asked();
    expect(more).toEqual([]);
    expect(second?.reason).toContain('beneficialOwners (15 of 20 companies)');
    expect(second?.reason).toContain('board (16 of 20 companies)');
    expect(second?.revision).not.toBe(first?.revision);
  });
});
