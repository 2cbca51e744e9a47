import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FIELD_NAMES, FIELDS } from '../../providers/fields.ts';
import { type Assertion, isMembers } from '../../src/connector/facts/assertion.ts';
import { extract } from '../../src/connector/facts/extract.ts';
import { type Fact, factValue } from '../../src/connector/facts/fact.ts';
import type { Payload } from '../../src/protocol/payload.ts';
import { fullStatePayload, type SampleCompany } from '../../src/protocol/sample/company.ts';
import { sampleCompanies } from '../../src/protocol/sample/stream.ts';
import { sampleStream } from '../support/sample-stream.ts';
import { type Arrived, factOf, factsOf, valueIn } from './facts-of.ts';

const clock = fc.constantFrom('2026-01', '2026-02', '2026-03', '2026-04');
const id = fc.constantFrom('a', 'b', 'c', 'd');
const values = fc.record({ field: fc.constant('name' as const), now: fc.constantFrom('A', 'B', null), clock });
const lists = fc
  .record({
    added: fc.uniqueArray(fc.record({ id, share: fc.constantFrom('5-10', '10-15') }), { selector: (each) => each.id }),
    removed: fc.uniqueArray(id),
    clock,
    whole: fc.boolean(),
  })
  .map(
    ({ added, removed, whole, clock: at }): Assertion => ({
      field: 'owners',
      added: added.map((each) => ({ ...each, name: `Name ${each.id}` })),
      removed: whole ? [] : removed,
      clock: at,
      ...(whole && { whole: true }),
    }),
  );

/** The statements in the order they arrived, and any order with repetitions of all of them. */
const inAnyOrder = (statement: fc.Arbitrary<Assertion>) =>
  fc
    .array(statement, { minLength: 1, maxLength: 8 })
    .map((all): readonly Arrived[] => all.map((said, seq) => [said, seq]))
    .chain((arrived) =>
      fc.tuple(
        fc.constant(arrived),
        fc
          .array(fc.constantFrom(...arrived), { maxLength: 6 })
          .chain((again) => fc.shuffledSubarray([...arrived, ...again], { minLength: arrived.length + again.length })),
      ),
    );

/** The rule in other words: a list is the newest whole, with every change after it in order. */
const modelOf = (arrived: readonly Arrived[]): readonly string[] | undefined => {
  const ordered = arrived.toSorted(([a, i], [b, j]) => (a.clock === b.clock ? i - j : a.clock < b.clock ? -1 : 1));
  const from = ordered.findLastIndex(([said]) => isMembers(said) && said.whole === true);
  const present = new Set<string>();
  for (const [said] of ordered.slice(Math.max(from, 0))) {
    if (!isMembers(said)) continue;
    for (const gone of said.removed) present.delete(gone);
    for (const member of said.added) present.add(member.id);
  }
  return from < 0 ? undefined : [...present].sort();
};

describe('assertions in any order, with repetitions, lead to the same fact', () => {
  for (const [kind, statement] of [
    ['values', values],
    ['lists', lists],
  ] as const)
    test(kind, () => {
      fc.assert(
        fc.property(inAnyOrder(statement), ([arrived, shuffled]) => {
          expect(factOf(shuffled)).toEqual(factOf(arrived));
        }),
        { numRuns: 1_000 },
      );
    });

  test('a list is the newest complete one with every later change', () => {
    fc.assert(
      fc.property(inAnyOrder(lists), ([arrived, shuffled]) => {
        const fact = factOf(shuffled);
        const value = fact === undefined ? undefined : factValue(fact);
        expect(Array.isArray(value) ? value.map((each) => each.id).sort() : undefined).toEqual(modelOf(arrived));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a stream of payloads', () => {
  const START = Date.UTC(2026, 0, 5, 7);
  const histories = (seed: number) => {
    const companies = new Map<string, SampleCompany>(sampleCompanies(seed, 5).map((each) => [each.entityId, each]));
    // Every company is stated in full first, as after `sendUpdate`.
    const first = new Date(START - 1).toISOString();
    const payloads = [...companies.values()].map((company): Payload => statedInFull(fullStatePayload(company, first)));
    for (const { payload, company } of sampleStream(seed, 300, { companies: 5, start: START })) {
      payloads.push(payload);
      companies.set(company.entityId, company);
    }
    const numbered = payloads.map((payload, seq) => [payload, seq] as const);
    return { companies, byEntity: Map.groupBy(numbered, ([payload]) => payload.entityId) };
  };
  // Their events name one at a time, so they never are known in full.
  const PARTIAL = new Set<string>(['productionUnits', 'subsidiaries', 'registerChangedAt']);

  test.each([1, 2, 3])('leads to the final state of the company (seed %i)', (seed) => {
    const { companies, byEntity } = histories(seed);
    for (const [entity, payloads] of byEntity) {
      const company = companies.get(entity);
      if (company === undefined) throw new Error(`no company ${entity}`);
      const end = factsOf([[statedInFull(fullStatePayload(company, new Date(START + 1e10).toISOString())), 1]]);
      const facts = factsOf(payloads);
      for (const field of FIELD_NAMES.filter((name) => !PARTIAL.has(name))) {
        // Where the full state says nothing of a value, the register has none.
        const wanted = valueIn(end, field) ?? null;
        expect([entity, field, valueIn(facts, field) ?? null]).toEqual([entity, field, wanted]);
      }
      const lastChange = payloads.findLast(([each]) =>
        extract(each).some(({ field }) => field === 'registerChangedAt'),
      );
      expect(valueIn(facts, 'registerChangedAt')).toBe(lastChange?.[0].timestamp);
      expect(valueIn(facts, 'productionUnits')).toBeUndefined();
    }
  });

  test('leads to the same facts when it comes shuffled and repeated', () => {
    const [payloads] = [...histories(4).byEntity.values()];
    if (payloads === undefined) throw new Error('no payloads');
    const inOrder = asObject(factsOf(payloads));
    fc.assert(
      fc.property(fc.shuffledSubarray([...payloads, ...payloads], { minLength: payloads.length * 2 }), (shuffled) => {
        expect(asObject(factsOf(shuffled))).toEqual(inOrder);
      }),
      { numRuns: 20 },
    );
  });

  test('covers every field, so that the comparison is meaningful', () => {
    const seen = new Set(
      histories(1)
        .byEntity.values()
        .flatMap((payloads) => factsOf(payloads).keys()),
    );
    const never = FIELD_NAMES.filter((field) => !seen.has(field));
    // The number and the page's address are made of the entity id, a text of other fields; no event states a region.
    expect(never).toEqual(['cvrNumber', 'region', 'mergedInto', 'dashboardUrl', 'composed']);
    expect([...seen].filter((field) => FIELDS[field].kind === 'list')).toContain('altNames');
  });
});

/** With the lists that have no members stated too: what a payload does not update, it says nothing of. */
const statedInFull = (payload: Payload): Payload => {
  const none = { added: [], removed: [] };
  const ofOwners = { ...none, changed: [] };
  const lists = { ownership: ofOwners, trueOwnership: ofOwners, trueVoteRights: ofOwners, altNames: none };
  const bodies = { altIndustries: none, accountant: none, board: none, management: none, stakeholders: none };
  return { ...payload, updates: { ...lists, ...bodies, ...payload.updates } };
};

const asObject = (facts: ReadonlyMap<string, Fact>) =>
  Object.fromEntries([...facts].sort(([a], [b]) => (a < b ? -1 : 1)));
