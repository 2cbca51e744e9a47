/** Stores millions of unit numbers in a tenth of the memory of a map. */

/** Unit numbers are consecutive from here. */
const FIRST = 4_000_000_000;
/** Unit numbers are stored below it, other numbers above. */
const HALF = 0x80_00_00_00;
const EMPTY = 0xff_ff_ff_ff;
/** At this load, the search for a missing number takes 20 steps; at a higher load more. */
const MOST_FULL = 0.85;

/** A unit number or a CVR number in 32 bits; undefined for anything else. */
const packed = (number: number): number | undefined => {
  if (!Number.isInteger(number) || number < 0) return undefined;
  if (number < HALF) return number + HALF;
  return number >= FIRST && number < FIRST + HALF ? number - FIRST : undefined;
};

const unpacked = (bits: number): number => (bits >= HALF ? bits - HALF : bits + FIRST);

export interface NumberPairs {
  add(key: number, value: number): void;
  valuesOf(key: number): readonly number[];
}

/** Values by number, in two flat arrays; a number may have several values. */
export function createNumberPairs(): NumberPairs {
  let keys = new Uint32Array(1 << 12).fill(EMPTY);
  let values = new Uint32Array(keys.length);
  let count = 0;

  const placeOf = (key: number): number => (Math.imul(key, 0x9e_37_79_b1) >>> 0) & (keys.length - 1);

  function put(key: number, value: number): void {
    let at = placeOf(key);
    for (; keys[at] !== EMPTY; at = (at + 1) & (keys.length - 1)) if (keys[at] === key && values[at] === value) return;
    keys[at] = key;
    values[at] = value;
    count += 1;
  }

  function grow(): void {
    const [formerKeys, formerValues] = [keys, values];
    keys = new Uint32Array(formerKeys.length * 2).fill(EMPTY);
    values = new Uint32Array(keys.length);
    count = 0;
    for (const [at, key] of formerKeys.entries()) if (key !== EMPTY) put(key, formerValues[at] ?? 0);
  }

  return {
    add(key, value) {
      const [packedKey, packedValue] = [packed(key), packed(value)];
      if (packedKey === undefined || packedValue === undefined) return;
      if (count > keys.length * MOST_FULL) grow();
      put(packedKey, packedValue);
    },
    valuesOf(key) {
      const wanted = packed(key);
      const found: number[] = [];
      if (wanted === undefined) return found;
      for (let at = placeOf(wanted); keys[at] !== EMPTY; at = (at + 1) & (keys.length - 1))
        if (keys[at] === wanted) found.push(unpacked(values[at] ?? 0));
      return found;
    },
  };
}
