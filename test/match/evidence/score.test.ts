import { describe, expect, it } from 'vitest';
import { describeEntry, describeRecord, type RecordText } from '../../../src/match/describe/described.ts';
import { type SharedBy, weighCandidate } from '../../../src/match/evidence/score.ts';
import { EVIDENCE } from '../../../src/match/evidence/weights.ts';
import { randomFrom } from '../../../src/protocol/sample/random.ts';
import { labelledRecords } from '../records.ts';
import { labelledRegister } from '../register.ts';

const register = labelledRegister(7, 300);
const sharings: readonly SharedBy[] = [
  { name: 1, phone: 1, domain: 1, address: 1 },
  { name: 30, phone: 30, domain: 30, address: 30 },
];

describe('the weight of a candidate', () => {
  it('does not fall when a part of the record is made to agree', () => {
    const random = randomFrom(3);
    let compared = 0;
    for (const { record } of labelledRecords(11, register, 580)) {
      const one = register.companies[random.int(0, register.companies.length - 1)];
      if (one === undefined) continue;
      const { main } = one;
      const candidate = { company: main.number, entries: [describeEntry(main)] };
      const agreeing: readonly RecordText[] = [
        { name: main.name },
        { phone: main.phone },
        { website: main.website },
        // How many companies share an address is known by its postal code.
        ...(record.postalCode == null ? [] : [{ ...main.address }]),
        // What the company has not cannot agree.
      ].filter((part) => Object.values(part).some((text) => text !== null));
      for (const sharedBy of sharings) {
        const score = (text: RecordText): number => weighCandidate(describeRecord(text), candidate, sharedBy).weight;
        const before = score(record);
        for (const part of agreeing) {
          expect(score({ ...record, ...part }), JSON.stringify({ record, part, main })).toBeGreaterThanOrEqual(before);
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(1_000);
  });

  it('counts one sign of each group', () => {
    const [one] = register.companies;
    if (one === undefined) throw new Error('no company');
    const entries = [one.main, ...one.units].map(describeEntry);
    const record = describeRecord({ name: one.main.name, ...one.main.address });
    const { findings } = weighCandidate(
      record,
      { company: one.main.number, entries },
      sharings[0] ?? { name: 1, phone: 1, domain: 1, address: 1 },
    );
    const groups = findings.map(({ evidence }) => EVIDENCE[evidence].group);
    expect(new Set(groups).size).toBe(groups.length);
    expect(groups).toEqual(expect.arrayContaining(['name', 'address']));
  });
});
