/** Checks that the labelled sets of trap grid and town registers match their labels. */
import { describe, expect, it } from 'vitest';
import { passesModulus11 } from '../../src/protocol/cvr-number.ts';
import { townRegisters } from '../bench/match-sets/town-registers.ts';
import { trapGrid } from '../bench/match-sets/trap-grid.ts';

describe.each(Object.entries({ trapGrid, townRegisters }))('%s', (_name, make) => {
  const set = make(7, 1000);
  const byTrap = Map.groupBy(set.records, ({ trap }) => trap);

  it('is the same for the same seed, and another one for another seed', () => {
    expect(make(7, 1000)).toEqual(set);
    expect(make(8, 1000).records).not.toEqual(set.records);
  });

  it('has companies with numbers of their own that pass the register check', () => {
    const numbers = set.entries.map(({ number }) => number);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.length).toBeGreaterThanOrEqual(4000);
    expect(set.entries.filter(({ company }) => !passesModulus11(company))).toEqual([]);
    const companies = new Set(numbers);
    expect(set.entries.filter(({ company }) => !companies.has(company))).toEqual([]);
  });

  it('has at least 25 traps, equally often', () => {
    const counts = [...byTrap.values()].map(({ length }) => length);
    expect(byTrap.size).toBeGreaterThanOrEqual(25);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });

  it('labels companies that are in the index, and says which have ended', () => {
    const ended = new Map(set.entries.map(({ number, ended }) => [number, ended !== null]));
    const labelled = set.records.filter(({ company }) => company !== null);
    expect(labelled.filter(({ company, hasEnded }) => ended.get(company ?? '') !== hasEnded)).toEqual([]);
    expect(1 - labelled.length / set.records.length).toBeGreaterThan(0.2);
    expect(1 - labelled.length / set.records.length).toBeLessThan(0.3);
  });

  it('labels no company in a trap that has no answer, and one in every other', () => {
    const isOpen = (trap: string): boolean => /(?:undecidable|missing)$/.test(trap) && !trap.endsWith('rival-missing');
    const wrong = set.records.filter(({ trap, company }) => isOpen(trap) !== (company === null));
    expect(wrong.map(({ trap }) => trap)).toEqual([]);
  });
});
