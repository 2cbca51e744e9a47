import { describe, expect, test } from 'vitest';
import { industryChangesOf } from '../../../../src/service/register/diff/differ-facts.ts';
import { isRecoding } from '../../../../src/service/register/diff/is-recoding.ts';
import { createRecodingGuard } from '../../../../src/service/register/diff/recoding.ts';
import { companyOf, industry } from '../documents.ts';

const DAY = '2025-01-01';
const change = (before: string, after: string, from: string | null = DAY) => ({ before, after, from });
const many = (count: number, from = DAY) =>
  Array.from({ length: count }, (_, at) => [change(`${at}`, `${at + 1}`, from)]);
const still = (count: number) => Array.from({ length: count }, () => []);

describe('a recoding', () => {
  test('is recognised by a page in which many companies change on the same day', () => {
    expect(isRecoding({ samePair: 1, sameDay: 10, documents: 50 }, change('1', '2'))).toBe(true);
    expect(isRecoding({ samePair: 1, sameDay: 9, documents: 9 }, change('1', '2'))).toBe(false);
    expect(isRecoding({ samePair: 1, sameDay: 10, documents: 51 }, change('1', '2'))).toBe(false);
  });

  test('is recognised by repetitions of the same two codes with the same first day', () => {
    expect(isRecoding({ samePair: 25, sameDay: 1, documents: 500 }, change('1', '2'))).toBe(true);
    expect(isRecoding({ samePair: 24, sameDay: 1, documents: 500 }, change('1', '2'))).toBe(false);
  });

  test('needs a first day', () => {
    expect(isRecoding({ samePair: 99, sameDay: 99, documents: 99 }, change('1', '2', null))).toBe(false);
  });

  test('includes other words for the same code, even for a single company', () => {
    expect(isRecoding({ samePair: 1, sameDay: 1, documents: 500 }, change('1', '1'))).toBe(true);
    expect(createRecodingGuard().isRecoded(change('1', '1', null))).toBe(true);
    expect(createRecodingGuard({ enabled: false }).isRecoded(change('1', '1', null))).toBe(false);
  });
});

describe('the guard', () => {
  test('recognises a flood from its first page on', () => {
    const guard = createRecodingGuard();
    guard.page([...many(100), ...still(100)]);
    expect(guard.isRecoded(change('1', '2'))).toBe(true);
    expect(guard.isRecoded(change('1', '2', '2025-01-02'))).toBe(false);
  });

  test('does not count other words for the same codes, which would make real changes look recoded', () => {
    const guard = createRecodingGuard();
    guard.page(Array.from({ length: 60 }, () => [change('1', '1')]));
    expect(guard.counts()).toEqual({});
    expect(guard.isRecoded(change('1', '2'))).toBe(false);
  });

  test('lets ordinary changes through, also many of them on different days', () => {
    const guard = createRecodingGuard();
    guard.page(Array.from({ length: 28 }, (_, at) => many(1, `2026-03-${String(at + 1).padStart(2, '0')}`)[0] ?? []));
    expect(guard.isRecoded(change('0', '1', '2026-03-04'))).toBe(false);
  });

  test('recognises a trickle after some time, also over a restart', () => {
    const first = createRecodingGuard();
    for (let at = 0; at < 20; at++) first.page([[change('1', '2')], ...still(99)]);
    expect(first.isRecoded(change('1', '2'))).toBe(false);
    const second = createRecodingGuard({ counts: JSON.parse(JSON.stringify(first.counts())) });
    for (let at = 0; at < 5; at++) second.page([[change('1', '2')], ...still(99)]);
    expect(second.isRecoded(change('1', '2'))).toBe(true);
    expect(second.isRecoded(change('1', '3'))).toBe(false);
  });

  test('counts a company once, and drops old days instead of growing', () => {
    const guard = createRecodingGuard();
    guard.page([Array.from({ length: 30 }, () => change('1', '2')), ...still(99)]);
    expect(guard.isRecoded(change('1', '2'))).toBe(false);
    guard.page(many(10_000, '2026-01-01'));
    expect(Object.keys(guard.counts())).toHaveLength(2_000);
  });

  test('that is switched off recognises nothing', () => {
    const guard = createRecodingGuard({ enabled: false });
    guard.page(many(100));
    expect(guard.isRecoded(change('1', '2'))).toBe(false);
  });

  test('is given the changes of all places', () => {
    const before = companyOf({
      hovedbranche: [industry('1')],
      bibranche2: [industry('3')],
      bibranche3: [industry('5')],
    });
    const after = companyOf({
      hovedbranche: [industry('2', DAY)],
      bibranche2: [industry('4', DAY)],
      bibranche3: [industry('5')],
    });
    expect(industryChangesOf(before, after)).toEqual([change('1', '2'), change('3', '4')]);
    expect(industryChangesOf(before, before)).toEqual([]);
  });
});
