import { describe, expect, it } from 'vitest';
import type { PropertyValue } from '../../../providers/provider.ts';
import { sameFor } from '../../../src/connector/decide/same.ts';
import { decideUndo } from '../../../src/connector/undo/decide-undo.ts';
import type { Write } from '../../../src/connector/undo/writes.ts';
import { propertyOf } from '../property-of.ts';

const same = (a: PropertyValue, b: PropertyValue): boolean => a === b;

/** A write that is to be taken back; `kept` is one that is not. */
const wrote = (old: PropertyValue, now: PropertyValue, more: Partial<Write> = {}): Write => ({
  at: 1,
  recordId: '1',
  entity: 'CVR-1-10000001',
  field: 'name',
  property: 'name',
  seq: 1,
  rule: 'register',
  old,
  now,
  selected: true,
  ...more,
});
const kept = (old: PropertyValue, now: PropertyValue, more: Partial<Write> = {}): Write =>
  wrote(old, now, { seq: 2, ...more, selected: false });
const UNDONE = { rule: 'undo', seq: 0 } as const;

const judged = (crm: PropertyValue | undefined, ...writes: readonly Write[]): string => {
  const verdict = decideUndo({ writes, crm, same });
  return 'reason' in verdict ? verdict.kind : `${verdict.kind} ${verdict.to}`;
};

describe('decideUndo', () => {
  it('restores the value that one write replaced', () => {
    expect(judged('B', wrote('A', 'B'))).toBe('restore A');
  });

  it('skips a write that arrived after one of a newer event, because its result was never right', () => {
    const late = kept('C', 'B', { seq: 1, rule: 'ours-after-all' });
    expect(judged('C', wrote('A', 'C', { seq: 2 }), late, wrote('B', 'C', { seq: 2 }))).toBe('restore A');
    const overEdit = kept('Mine', 'B', { seq: 1, rule: 'ours-after-all' });
    expect(judged('C', wrote('A', 'C', { seq: 2 }), overEdit, wrote('B', 'C', { seq: 2 }))).toBe('restore Mine');
    // In its turn, it is what was there before.
    const inTurn = kept('A', 'B', { seq: 1, rule: 'ours-after-all' });
    expect(judged('C', inTurn, wrote('B', 'C', { seq: 2 }))).toBe('restore B');
  });

  it('restores the value before the first of several writes', () => {
    expect(judged('C', wrote('A', 'B'), wrote('B', 'C'))).toBe('restore A');
  });

  it('restores the value before the selected writes only', () => {
    expect(judged('C', kept('A', 'B'), wrote('B', 'C'))).toBe('restore B');
  });

  it("goes back no further than a person's value between two writes", () => {
    expect(judged('C', wrote('A', 'B'), wrote('P', 'C'))).toBe('restore P');
  });

  it('goes back no further than a write that is not selected', () => {
    expect(judged('D', wrote('A', 'B'), kept('B', 'C'), wrote('C', 'D'))).toBe('restore C');
  });

  it('keeps any edit of a person', () => {
    expect(judged('P', wrote('A', 'B'))).toBe('edited');
    expect(judged(null, wrote('A', 'B'))).toBe('edited');
  });

  it('skips a property that a later write of ours changed', () => {
    expect(judged('C', wrote('A', 'B'), kept('B', 'C'))).toBe('overtaken');
  });

  it('clears a value that was blank, in any spelling of blank', () => {
    expect([judged('B', wrote(null, 'B')), judged('B', wrote(' ', 'B'))]).toEqual(['restore null', 'restore null']);
  });

  it('restores a value that the register had cleared', () => {
    expect(judged(null, wrote('A', null))).toBe('restore A');
  });

  it('recognises restored values and who recorded them', () => {
    expect(judged('A', wrote('A', 'B'))).toBe('already A');
    expect(judged('A', wrote('A', 'B'), kept('B', 'A', UNDONE))).toBe('undone');
  });

  it('does nothing if the writes returned to the first value', () => {
    expect(judged('A', wrote('A', 'B'), wrote('B', 'A'))).toBe('nothing');
    expect(judged('A', wrote('A', 'B'), wrote('B', 'A', UNDONE))).toBe('nothing');
  });

  it('decides nothing about unreadable properties', () => {
    expect(judged(undefined, wrote('A', 'B'))).toBe('unreadable');
  });

  it('undoes an undo, and names the author of the restored value', () => {
    const writes = [kept('A', 'B', { seq: 7 }), wrote('B', 'A', UNDONE)];
    expect(decideUndo({ writes, crm: 'A', same })).toMatchObject({ kind: 'restore', from: 'A', to: 'B', seq: 7 });
  });

  it('undoes a write that was restored by undoing an undo', () => {
    const again = wrote('A', 'B', { rule: 'undo', seq: 1 });
    expect(judged('B', wrote('A', 'B'), kept('B', 'A', UNDONE), again)).toBe('restore A');
  });
});

describe('a value that the CRM respells', () => {
  const spelled = (type: 'number' | 'date' | 'phone', now: PropertyValue, crm: PropertyValue): string => {
    const property = propertyOf(type);
    const field = type === 'phone' ? 'phone' : type === 'date' ? 'startDate' : 'capital';
    return decideUndo({ writes: [wrote(null, now)], crm, same: sameFor(field, property) }).kind;
  };

  it('still counts as our write', () => {
    expect(spelled('number', 600_000, '600000.00')).toBe('restore');
    expect(spelled('date', '2026-03-01', '2026-03-01T00:00:00Z')).toBe('restore');
    expect(spelled('phone', '+4512345678', '12 34 56 78')).toBe('restore');
    expect(spelled('number', 600_000, '600001')).toBe('edited');
  });
});
