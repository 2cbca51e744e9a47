/** The labelled register of the tests as a set: a quarter of its companies is missing in the index. */
import { randomFrom } from '../../../src/protocol/sample/random.ts';
import { labelledRecords } from '../../match/records.ts';
import { labelledRegister } from '../../match/register.ts';
import type { LabelledSet } from './set.ts';

/** Companies for each record. */
const DENSITY = 1.2;

export function ownRegister(seed: number, records: number): LabelledSet {
  const register = labelledRegister(seed, Math.ceil(records * DENSITY));
  const random = randomFrom(seed + 1);
  const missing = new Set(register.companies.flatMap(({ main }) => (random.chance(0.25) ? main.number : [])));
  const labelled = labelledRecords(seed + 2, register, records);
  return {
    name: 'own-register',
    entries: register.entries.filter(({ company }) => !missing.has(company)),
    records: labelled.map((one) =>
      missing.has(one.company ?? '') ? { ...one, company: null, hasEnded: false, trap: `${one.trap}, missing` } : one,
    ),
  };
}
