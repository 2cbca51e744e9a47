import { describe, expect, it } from 'vitest';
import { countAnswers, readAnswers } from '../../../src/match/decide/answers.ts';
import { AXES, type Pattern, patternText } from '../../../src/match/decide/pattern.ts';
import { type Answers, probabilityOf } from '../../../src/match/decide/probability.ts';
import { fitShares, orderedLines } from '../../bench/match-sets/fit.ts';
import { ENGINES, newStore } from '../../support/stores.ts';

const NONE: Answers = new Map();
const agreeing: Pattern = { kind: 'plain', name: 'own', address: 'same', phone: 'same', domain: 'own', rival: 'far' };

/** The patterns that differ in one axis, from what speaks most against the candidate. */
const along = (axis: keyof typeof AXES): readonly Pattern[] =>
  AXES[axis].map((value): Pattern => ({ ...agreeing, [axis]: value }));

describe('the table of patterns', () => {
  it.each(['address', 'phone', 'domain', 'rival'] as const)('does not fall if the %s agrees more', (axis) => {
    const shares = along(axis).map((pattern) => probabilityOf(pattern, NONE));
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares.every((share) => share > 0 && share < 1)).toBe(true);
  });

  it('is monotone as it is fitted, whatever the records say', () => {
    const upsideDown = along('phone').map((pattern, at) => ({
      pattern: patternText(pattern),
      of: 100,
      right: 90 - 20 * at,
    }));
    const shares = fitShares(upsideDown);
    for (const line of [1, 2, 3, 4, 5].flatMap(orderedLines)) {
      const values = line.map((cell) => shares[cell] ?? Number.NaN);
      expect(values.every((value, at) => value >= (values[at - 1] ?? 0))).toBe(true);
    }
  });
});

describe.each(ENGINES)('answers on %s', (engine) => {
  it('move the share of their pattern once there are ten', async () => {
    const { db, write } = await newStore(engine);
    const pattern = patternText(agreeing);
    const before = probabilityOf(agreeing, NONE);
    const answer = (kind: 'accepted' | 'refused', by: number) =>
      write((tx) => countAnswers(tx, { pattern, kind, by }, 1));
    await answer('accepted', 5);
    await answer('refused', 4);
    expect(probabilityOf(agreeing, await readAnswers(db))).toBe(before);
    await answer('refused', 1);
    const answers = await readAnswers(db);
    expect(answers.get(pattern)).toEqual({ accepted: 5, of: 10 });
    expect(probabilityOf(agreeing, answers)).toBeCloseTo((before * 20 + 5) / 30, 9);
    await answer('refused', -1);
    expect(probabilityOf(agreeing, await readAnswers(db))).toBe(before);
  });
});
