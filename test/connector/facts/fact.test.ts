import { describe, expect, test } from 'vitest';
import type { Member } from '../../../providers/fields.ts';
import type { Assertion } from '../../../src/connector/facts/assertion.ts';
import {
  concernsRecords,
  type Fact,
  factValue,
  fold,
  knownValues,
  visible,
} from '../../../src/connector/facts/fact.ts';
import { ENTITY, factOf } from '../facts-of.ts';

const named = (id: string): Member => ({ id, name: `Name ${id}` });
const scalar = (now: string | null, clock: string, before?: string | null): Assertion => ({
  field: 'name',
  now,
  clock,
  ...(before !== undefined && { before }),
});
const list = (clock: string, added: readonly string[], removed: readonly string[] = []): Assertion => ({
  field: 'board',
  added: added.map(named),
  removed,
  clock,
});
const whole = (clock: string, ids: readonly string[]): Assertion => ({ ...list(clock, ids), whole: true });
const ids = (fact: Fact | undefined): readonly string[] | undefined => {
  const value = fact === undefined ? undefined : factValue(fact);
  return Array.isArray(value) ? value.map((each: Member) => each.id) : undefined;
};

describe('a figure of a period', () => {
  const figure = (period: string, time: string, now: number, before: number | null): Assertion => ({
    ...{ field: 'employees', now, before, period, clock: `${period}@${time}` },
    figure: { now, before },
  });
  const folded = (...said: readonly Assertion[]) => factOf(said.map((each, seq) => [each, seq] as const))?.value;
  const may = figure('2026-05', '2026-07-01', 5, 4);
  const back = figure('2026-04', '2026-08-01', 4, 5);

  test('of a later period stays if an earlier one arrives late', () => {
    expect(folded(may, figure('2026-04', '2026-06-01', 4, 3))).toMatchObject({ scalar: 5 });
    expect(folded(may, figure('2026-03', '2026-08-01', 7, 3))).toMatchObject({ scalar: 5 });
  });

  test('that the register withdrew is removed, in any order of arrival', () => {
    expect(folded(may, back)).toMatchObject({ scalar: 4 });
    expect(folded(back, may)).toMatchObject({ scalar: 4 });
    expect(folded(may, back, may)).toMatchObject({ scalar: 4 });
    expect(folded(may, back, figure('2026-05', '2026-09-01', 5, 4))).toMatchObject({ scalar: 5 });
  });

  test('is removed by a later full state without it', () => {
    const whole: Assertion = {
      ...figure('2026-04', '2026-08-01', 4, null),
      figure: { now: 4, before: null, whole: true },
    };
    expect(folded(may, whole)).toMatchObject({ scalar: 4 });
    expect(folded(whole, may)).toMatchObject({ scalar: 4 });
    expect(folded(figure('2026-05', '2026-09-01', 5, 4), whole)).toMatchObject({ scalar: 5 });
  });
});

describe('a value', () => {
  const known = factOf([[scalar('B', '2026-02'), 5]]);

  test('is replaced by a later one, which counts as a change', () => {
    expect(fold(known, ENTITY, scalar('C', '2026-03'), 6)).toEqual({
      fact: { entity: ENTITY, field: 'name', value: { scalar: 'C' }, clock: '2026-03', seq: 6 },
      changed: true,
      stale: false,
    });
  });

  test('stays if an older one arrives late, which is stale', () => {
    expect(fold(known, ENTITY, scalar('A', '2026-01'), 6)).toEqual({ fact: known, changed: false, stale: true });
  });

  test('of the same clock is ordered by arrival, in any order of folding', () => {
    const first = [scalar('A', '2026-02'), 1] as const;
    const second = [scalar('B', '2026-02'), 2] as const;
    expect(factOf([first, second])).toEqual(factOf([second, first]));
    expect(factOf([first, second])?.value).toEqual({ scalar: 'B' });
  });

  test('changes only its clock if it is repeated', () => {
    const again = fold(known, ENTITY, scalar('B', '2026-03'), 6);
    expect(again).toMatchObject({ changed: false, stale: false, fact: { clock: '2026-03' } });
    expect(fold(known, ENTITY, scalar('B', '2026-02'), 5)).toEqual({ fact: known, changed: false, stale: false });
  });

  test('can be cleared, and a blank is a known value', () => {
    const cleared = fold(known, ENTITY, scalar(null, '2026-03'), 6);
    expect(cleared.changed).toBe(true);
    expect(factValue(cleared.fact)).toBeNull();
    expect(fold(undefined, ENTITY, scalar(null, '2026-03'), 6).changed).toBe(true);
  });
});

describe('the known values of the register', () => {
  test('include those before and after, also of a stale assertion, without blanks', () => {
    const current = factOf([[scalar('C', '2026-03'), 1]]);
    const late = scalar('B', '2026-02', 'A');
    expect(knownValues(late, fold(current, ENTITY, late, 2))).toEqual(['B', 'A']);
    const clearing = scalar(null, '2026-04', 'C');
    expect(knownValues(clearing, fold(current, ENTITY, clearing, 3))).toEqual(['C']);
  });

  test('include a list only if it is known completely', () => {
    const part = list('2026-01', ['a']);
    expect(knownValues(part, fold(undefined, ENTITY, part, 1))).toEqual([]);
    const full = whole('2026-02', ['a']);
    expect(knownValues(full, fold(undefined, ENTITY, full, 2))).toEqual([[named('a')]]);
  });

  test('cause a new decision if they arrive late, because the CRM may hold one of them', () => {
    const current = factOf([[scalar('C', '2026-03'), 1]]);
    const concerns = (said: Assertion) => concernsRecords(said, fold(current, ENTITY, said, 2));
    expect(concerns(scalar('B', '2026-02', 'A'))).toBe(true);
    expect(concerns(scalar('C', '2026-04', 'A'))).toBe(true);
    expect(concerns(scalar('D', '2026-04'))).toBe(true);
    expect(concerns(scalar('C', '2026-04'))).toBe(false);
    expect(concerns(scalar('C', '2026-04', null))).toBe(false);
  });
});

describe('a list', () => {
  test('that is known only from changes is stored, but not written to a CRM', () => {
    const fact = factOf([
      [list('2026-01', ['a', 'b']), 1],
      [list('2026-02', [], ['a']), 2],
    ]);
    expect(ids(fact)).toBeUndefined();
    expect(fact !== undefined && 'list' in fact.value && visible(fact.value.list)).toEqual({
      members: [named('b')],
      complete: false,
    });
  });

  test('becomes a value with the full state, even with the same members or none', () => {
    const part = factOf([[list('2026-01', ['a']), 1]]);
    expect(fold(part, ENTITY, whole('2026-02', ['a']), 2).changed).toBe(true);
    const empty = fold(undefined, ENTITY, whole('2026-02', []), 2);
    expect(empty.changed).toBe(true);
    expect(factValue(empty.fact)).toEqual([]);
  });

  const cases: readonly (readonly [string, readonly Assertion[], readonly string[]])[] = [
    ['the whole ends what it does not name', [list('1', ['a']), whole('2', ['b'])], ['b']],
    ['an older whole does not end a newer member', [list('3', ['a']), whole('2', ['b'])], ['a', 'b']],
    ['an older removal does not reach into the whole', [whole('2', ['a', 'b']), list('1', [], ['a'])], ['a', 'b']],
    ['a newer removal does', [whole('2', ['a', 'b']), list('3', [], ['a'])], ['b']],
    ['a removal newer than a whole that comes after it counts', [list('3', [], ['a']), whole('2', ['a', 'b'])], ['b']],
    ['a newer whole brings back who had left', [list('1', [], ['a']), whole('2', ['a'])], ['a']],
    ['an older addition does not undo the whole', [whole('2', ['b']), list('1', ['a'])], ['b']],
    ['the older of two wholes adds nothing', [whole('3', ['b']), whole('2', ['a'])], ['b']],
    ['who left and joined in one change is there', [whole('1', ['a']), list('2', ['a'], ['a'])], ['a']],
    ['who leaves unknown does no harm', [whole('1', ['a']), list('2', [], ['x'])], ['a']],
    ['any text may be a member', [whole('1', ['__proto__', 'constructor', '1'])], ['__proto__', '1', 'constructor']],
  ];
  for (const [rule, assertions, wanted] of cases)
    test(rule, () => {
      expect(ids(factOf(assertions.map((said, seq) => [said, seq])))).toEqual(wanted);
    });

  test('identifies members by name, and a changed share is a change', () => {
    const owners = (at: string, share: string): Assertion => ({
      field: 'owners',
      added: [{ id: '2', name: 'Bo', share }],
      removed: [],
      clock: at,
    });
    const all: Assertion = { ...owners('1', '5-10'), added: [{ id: '1', name: 'Ågot' }, named('2')], whole: true };
    const fact = factOf([
      [all, 1],
      [owners('2', '5-10'), 2],
    ]);
    expect(fact && factValue(fact)).toMatchObject([{ name: 'Bo', share: '5-10' }, { name: 'Ågot' }]);
    const after = fold(fact, ENTITY, owners('3', '10-15'), 3);
    expect(after.changed).toBe(true);
    expect(factValue(after.fact)).toMatchObject([{ share: '10-15' }, { name: 'Ågot' }]);
  });

  test('marks older assertions without an effect as stale, and survives storage', () => {
    const fact = factOf([[whole('2', ['a']), 2]]);
    expect(fold(fact, ENTITY, list('1', ['x'], ['a']), 3)).toEqual({ fact, changed: false, stale: true });
    expect(fold(fact, ENTITY, whole('2', ['a']), 2)).toEqual({ fact, changed: false, stale: false });
    expect(JSON.parse(JSON.stringify(fact))).toEqual(fact);
  });
});
