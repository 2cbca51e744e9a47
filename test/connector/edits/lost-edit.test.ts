import { describe, expect, it } from 'vitest';
import type { PropertyEdit, PropertyValue } from '../../../providers/provider.ts';
import { lostEdits, type OwnWrite as OwnWriteAt } from '../../../src/connector/edits/lost-edit.ts';

const same = (a: PropertyValue, b: PropertyValue) => (a ?? '') === (b ?? '');

/** `*` marks an own version. */
const history = (...values: readonly (string | null | undefined)[]): readonly PropertyEdit[] =>
  values.map((text, index): PropertyEdit => {
    const own = text?.endsWith('*') === true;
    const edit = { id: '1', property: 'name', at: index, by: own ? 'app' : 'Bo', own };
    return text === undefined ? edit : { ...edit, value: own ? (text?.slice(0, -1) ?? null) : text };
  });

type OwnWrite = Omit<OwnWriteAt, 'at' | 'isCarried'>;

const find = (writes: readonly OwnWrite[], edits: readonly PropertyEdit[]) => {
  const timed = writes.map((write, at) => ({ ...write, at, isCarried: false }));
  const [found] = lostEdits([{ writes: timed, edits, same }]).values();
  return found && [found.value, found.by];
};

const A_TO_B: OwnWrite = { old: 'A', now: 'B' };
const B_TO_C: OwnWrite = { old: 'B', now: 'C' };

describe('the edit that a write overwrote', () => {
  it.each<[string, readonly OwnWrite[], readonly PropertyEdit[], unknown]>([
    ['is the version between what was read and our own', [A_TO_B], history('A', 'E', 'B*'), ['E', 'B']],
    ['is the newest of several', [A_TO_B], history('A', 'D', 'E', 'B*'), ['E', 'B']],
    ['is a blank that somebody left', [A_TO_B], history('A', null, 'B*'), [null, 'B']],
    ['is found where the CRM does not tell that our version is our own', [A_TO_B], history('A', 'E', 'B'), ['E', 'B']],
    ['is found where the CRM re-spelled our value', [A_TO_B], history('A', 'E', 'b *'), ['E', 'b ']],
    [
      'is found by the value that the CRM made of ours',
      [{ ...A_TO_B, stored: 'b' }],
      history('A', 'E', 'b'),
      ['E', 'b'],
    ],
    ['is found below a later write of ours', [A_TO_B, B_TO_C], history('A', 'E', 'B*', 'C*'), ['E', 'B']],
    ['is found for the later one of two writes', [A_TO_B, B_TO_C], history('A', 'B*', 'E', 'C*'), ['E', 'C']],
    ['is found where somebody edited after our write, too', [A_TO_B], history('A', 'E', 'B*', 'F'), ['E', 'B']],
    [
      'is none where a person wrote what an older write of ours had written',
      [{ old: 'B', now: 'A' }],
      history('E', 'A*', 'B*', 'A'),
      undefined,
    ],
    ['is none where nothing stood between', [A_TO_B], history('A', 'B*'), undefined],
    ['is none where our read saw it', [{ old: 'E', now: 'B' }], history('A', 'E', 'B*'), undefined],
    ['is none where it was taken back at once', [A_TO_B], history('A', 'E', 'A', 'B*'), undefined],
    ['is none where it is what we wrote', [A_TO_B], history('A', 'B', 'B*'), undefined],
    ['is none where it came after our write', [A_TO_B], history('A', 'B*', 'E'), undefined],
    [
      'is none where a person wrote another value later, and took it back',
      [A_TO_B],
      history('A', 'B*', 'E', 'B'),
      undefined,
    ],
    ['is none of that where the CRM does not tell what is our own', [A_TO_B], history('A', 'B', 'E', 'B'), undefined],
    ['is none where another write of ours stood between', [A_TO_B], history('A', 'Z*', 'B*'), undefined],
    ['is none where nothing stood there before', [{ old: null, now: 'B' }], history('B*'), undefined],
    ['is none where our write is not in the history', [A_TO_B], history('A', 'E'), undefined],
    ['is none where the CRM tells no values', [A_TO_B], history(undefined, undefined), undefined],
    ['is none of two writes that both stand', [A_TO_B, B_TO_C], history('A', 'B*', 'C*'), undefined],
  ])('%s', (_what, writes, edits, found) => {
    expect(find(writes, edits)).toEqual(found);
  });
});
