import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNumberPairs } from '../../../../../src/service/register/source/datafordeler/files/unit-numbers.ts';

test('pairs of unit numbers and CVR numbers are found again, each once', () => {
  const number = fc.oneof(
    fc.integer({ min: 4_000_000_000, max: 4_000_000_050 }),
    fc.integer({ min: 4_000_000_000, max: 4_900_000_000 }),
    fc.integer({ min: 10_000_000, max: 99_999_999 }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(number, number), { maxLength: 300 }), fc.nat(9_000), (pairs, more) => {
      const kept = createNumberPairs();
      const all = [...pairs, ...Array.from({ length: more }, (_, at): [number, number] => [4_200_000_000 + at, at])];
      const expected = new Map<number, Set<number>>();
      for (const [key, value] of all) {
        kept.add(key, value);
        expected.set(key, (expected.get(key) ?? new Set()).add(value));
      }
      const isSame = ([key, values]: readonly [number, ReadonlySet<number>]): boolean => {
        const found = kept.valuesOf(key);
        return found.length === values.size && found.every((value) => values.has(value));
      };
      expect([...expected].filter((each) => !isSame(each))).toEqual([]);
      expect(kept.valuesOf(3_999_999_999)).toEqual([]);
      expect(kept.valuesOf(Number.NaN)).toEqual([]);
    }),
    { numRuns: 20 },
  );
});
