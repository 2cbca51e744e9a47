import { expect, test } from 'vitest';
import type { Member } from '../../../providers/fields.ts';
import { fold } from '../../../src/connector/facts/fact.ts';
import { majorityOf } from '../../../src/connector/parents/majority.ts';

const firm = (number: string, share?: string): Member => ({
  id: `CVR-1-${number}`,
  name: `Firma ${number}`,
  type: 'Company',
  ...(share !== undefined && { share }),
});
const person = (share: string): Member => ({ id: 'CVR-3-4999000001', name: 'Prøve Opdigtsen', type: 'Person', share });

const ownersOf = (added: readonly Member[], isWhole = true) =>
  fold(
    undefined,
    'CVR-1-95000000',
    { field: 'owners', added, removed: [], clock: '2026-01-01', ...(isWhole && { whole: true as const }) },
    1,
  ).fact;

const owner = (members: readonly Member[]): string => {
  const majority = majorityOf(ownersOf(members));
  return majority.kind === 'owner' ? majority.entity : majority.kind;
};

test.each([
  ['100', 'CVR-1-95000001'],
  ['50.01', 'CVR-1-95000001'],
  ['66,67-90 %', 'CVR-1-95000001'],
  ['66.67–89.99', 'CVR-1-95000001'],
  ['50-66.66', 'CVR-1-95000001'],
  ['50', 'none'],
  ['33.34-50', 'none'],
  ['5-10', 'none'],
  ['most of it', 'none'],
  ['-60', 'none'],
])('a company that owns %s is the majority owner: %s', (share, expected) => {
  expect(owner([firm('95000001', share), firm('95000002', '5-10'), firm('95000003')])).toBe(expected);
});

test('two companies that may own half each have no majority', () => {
  expect(owner([firm('95000001', '50-66.66'), firm('95000002', '50-66.66')])).toBe('none');
  expect(owner([firm('95000001', '50-66.66'), person('50-66.66')])).toBe('none');
});

test('a person, and a foreign company without a Danish number, cannot be a parent', () => {
  expect(owner([person('100')])).toBe('none');
  expect(owner([{ id: 'CVR-3-4999000009', name: 'Luftschloss GmbH', type: 'Company', share: '100' }])).toBe('none');
});

test('a list that is known in part, or missing, names no majority owner', () => {
  expect(majorityOf(ownersOf([firm('95000001', '100')], false))).toEqual({ kind: 'unknown' });
  expect(majorityOf(undefined)).toEqual({ kind: 'unknown' });
  expect(majorityOf(ownersOf([]))).toEqual({ kind: 'none' });
});
