import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Policy, PropertyValue } from '../../../providers/provider.ts';
import { type Decision, decide, type Inputs, isBlank } from '../../../src/connector/decide/decide.ts';

const POLICIES: readonly Policy[] = ['tracked', 'always', 'if-blank', 'never'];
const same = (a: PropertyValue, b: PropertyValue) => (isBlank(a) && isBlank(b)) || a === b;
/** The decision if a register that knows `known` says `now`, of a record that holds `crm`; nobody has had a word in it. */
const decided = (
  policy: Policy,
  [crm, now]: readonly [PropertyValue, PropertyValue],
  others: Partial<Omit<Inputs, 'crm' | 'now' | 'policy' | 'same'>> = {},
): Decision =>
  decide({ crm, now, policy, known: [], last: undefined, override: undefined, trusted: false, same, ...others });
const NOBODY = { override: undefined, trusted: false } as const;
const said = ({ action, rule }: Decision) => `${action}: ${rule}`;

describe('the table of decisions', () => {
  // What the CRM holds, beside a register that went from A to B and now says C, and our last write L.
  const table: readonly (readonly [PropertyValue, PropertyValue, Readonly<Record<Policy, string>>])[] = [
    ['C', 'C', { tracked: 'skip: same', always: 'skip: same', 'if-blank': 'skip: same', never: 'skip: same' }],
    [null, 'C', { tracked: 'write: blank', always: 'write: blank', 'if-blank': 'write: blank', never: 'skip: never' }],
    ['', 'C', { tracked: 'write: blank', always: 'write: blank', 'if-blank': 'write: blank', never: 'skip: never' }],
    [' \n', 'C', { tracked: 'write: blank', always: 'write: blank', 'if-blank': 'write: blank', never: 'skip: never' }],
    [
      'A',
      'C',
      { tracked: 'write: register', always: 'write: always', 'if-blank': 'skip: filled', never: 'skip: never' },
    ],
    [
      'B',
      'C',
      { tracked: 'write: register', always: 'write: always', 'if-blank': 'skip: filled', never: 'skip: never' },
    ],
    ['L', 'C', { tracked: 'write: ours', always: 'write: always', 'if-blank': 'skip: filled', never: 'skip: never' }],
    ['P', 'C', { tracked: 'keep: edited', always: 'write: always', 'if-blank': 'skip: filled', never: 'skip: never' }],
    // The register cleared the value.
    [null, null, { tracked: 'skip: same', always: 'skip: same', 'if-blank': 'skip: same', never: 'skip: same' }],
    ['', null, { tracked: 'skip: same', always: 'skip: same', 'if-blank': 'skip: same', never: 'skip: same' }],
    [
      'A',
      null,
      { tracked: 'write: register', always: 'write: always', 'if-blank': 'skip: filled', never: 'skip: never' },
    ],
    ['L', null, { tracked: 'write: ours', always: 'write: always', 'if-blank': 'skip: filled', never: 'skip: never' }],
    ['P', null, { tracked: 'keep: edited', always: 'write: always', 'if-blank': 'skip: filled', never: 'skip: never' }],
  ];

  for (const [crm, now, wanted] of table)
    for (const policy of POLICIES)
      test(`${policy}: the CRM holds ${JSON.stringify(crm)}, the register says ${JSON.stringify(now)}: ${wanted[policy]}`, () => {
        expect(said(decided(policy, [crm, now], { known: ['A', 'B'], last: 'L' }))).toBe(wanted[policy]);
      });

  test('a CRM that still holds A follows two quick changes from A over B to C', () => {
    expect(said(decided('tracked', ['A', 'C'], { known: ['A', 'B', 'C'] }))).toBe('write: register');
  });

  test('after we wrote a blank, a person’s value is not ours', () => {
    expect(said(decided('tracked', ['P', 'C'], { last: null }))).toBe('keep: edited');
  });

  test('zero and false are values, not blanks', () => {
    expect(said(decided('tracked', [0, 5]))).toBe('keep: edited');
    expect(said(decided('if-blank', [false, true]))).toBe('skip: filled');
    expect(said(decided('tracked', [5, 0], { known: [5] }))).toBe('write: register');
  });

  test('equality depends on the property, not on the spelling', () => {
    const folded = (a: PropertyValue, b: PropertyValue) => String(a).toLowerCase() === String(b).toLowerCase();
    const inputs = { crm: 'a', known: ['A'], last: undefined, policy: 'tracked', same: folded, ...NOBODY } as const;
    expect(said(decide({ ...inputs, now: 'A' }))).toBe('skip: same');
    expect(said(decide({ ...inputs, now: 'B' }))).toBe('write: register');
  });
});

describe("a person's override", () => {
  const CRM_HOLDS: readonly PropertyValue[] = [null, 'A', 'L', 'P'];

  test('a hold protects the property under every policy and with any value', () => {
    for (const crm of CRM_HOLDS)
      for (const policy of POLICIES)
        expect(said(decided(policy, [crm, 'C'], { known: ['A'], last: 'L', override: 'hold', trusted: true }))).toBe(
          'skip: held',
        );
  });

  test('a release lets the register win over an edit and over if-blank, but not over never', () => {
    const released = (policy: Policy): string =>
      said(decided(policy, ['P', 'C'], { known: ['A'], last: 'L', override: 'release' }));
    expect(POLICIES.map(released)).toEqual(['write: released', 'write: always', 'write: released', 'skip: never']);
  });

  test('a property that holds the value is the same under any override', () => {
    for (const override of ['release', 'hold'] as const)
      expect(said(decided('tracked', ['C', 'C'], { override, trusted: true }))).toBe('skip: same');
  });
});

describe('trust in the register', () => {
  test('overwrites values of unknown authors, under tracked only', () => {
    const trusted = (policy: Policy): string =>
      said(decided(policy, ['P', 'C'], { known: ['A'], last: 'L', trusted: true }));
    expect(POLICIES.map(trusted)).toEqual(['write: trusted', 'write: always', 'skip: filled', 'skip: never']);
  });

  test('has no effect if another rule writes', () => {
    const trusted = (crm: PropertyValue): string =>
      said(decided('tracked', [crm, 'C'], { known: ['A'], last: 'L', trusted: true }));
    expect([null, 'A', 'L', 'C'].map(trusted)).toEqual([
      'write: blank',
      'write: register',
      'write: ours',
      'skip: same',
    ]);
  });
});

describe('decisions on any values', () => {
  const value = fc.constantFrom<PropertyValue>(null, '', ' ', 'A', 'B', 'C', 0, 1, false, true);
  const inputs = fc.record({
    crm: value,
    now: value,
    known: fc.array(value, { maxLength: 3 }),
    last: fc.option(value, { nil: undefined }),
    policy: fc.constantFrom(...POLICIES),
    override: fc.constantFrom(undefined, 'release', 'hold'),
    trusted: fc.boolean(),
  });
  const all = (check: (given: Parameters<typeof decide>[0], decision: Decision) => boolean) =>
    fc.assert(
      fc.property(inputs, (given) => check({ ...given, same }, decide({ ...given, same }))),
      { numRuns: 2_000 },
    );

  test('nothing is written without a difference', () => {
    all(({ crm, now }, { action }) => !same(crm, now) || action === 'skip');
  });

  test('tracked overwrites only blanks, values of the register and our own', () => {
    all(({ crm, known, last, policy, override, trusted }, { action }) => {
      if (override === 'release' || trusted) return true;
      const isTheirs =
        !isBlank(crm) && !known.some((each) => same(each, crm)) && !(last !== undefined && same(last, crm));
      return policy !== 'tracked' || !isTheirs || action !== 'write';
    });
  });

  test('tracked writes over every differing blank, value of the register or own value', () => {
    all(({ crm, now, known, last, policy, override }, { action }) => {
      if (override === 'hold') return action === 'skip';
      const isFree = isBlank(crm) || known.some((each) => same(each, crm)) || (last !== undefined && same(last, crm));
      return policy !== 'tracked' || same(crm, now) || !isFree || action === 'write';
    });
  });

  test('if-blank writes only into blanks, never does not write, and always keeps nothing', () => {
    all(({ crm, policy, override }, { action }) => {
      if (policy === 'if-blank' && override !== 'release')
        return action !== 'keep' && (action !== 'write' || isBlank(crm));
      return policy === 'never' || override === 'hold' ? action === 'skip' : policy !== 'always' || action !== 'keep';
    });
  });

  test('the order of the known values does not matter, and a second look after a write finds nothing to do', () => {
    all((given, decision) => {
      const reversed = decide({ ...given, known: given.known.toReversed() });
      const after = decide({ ...given, crm: given.now, last: given.now });
      return said(reversed) === said(decision) && said(after) === 'skip: same';
    });
  });
});

describe('a value that the CRM made of our last write', () => {
  const made = { last: 'L', stored: 'l' } as const;

  test('counts as that write: it is not written again, and the next value of the register is written', () => {
    const rules = (now: PropertyValue) => POLICIES.map((policy) => said(decided(policy, ['l', now], made)));
    expect(rules('L')).toEqual(['skip: stored', 'skip: stored', 'skip: stored', 'skip: never']);
    expect(rules('C')).toEqual(['write: ours', 'write: always', 'skip: filled', 'skip: never']);
    expect(said(decided('tracked', ['P', 'C'], made))).toBe('keep: edited');
  });

  test('may be blank', () => {
    const nothing = { last: 'L', stored: null } as const;
    expect(said(decided('tracked', [null, 'L'], nothing))).toBe('skip: stored');
    expect(said(decided('tracked', [null, 'C'], nothing))).toBe('write: blank');
  });

  test("never causes the loss of a person's edit, and never counts as a person's", () => {
    const text = fc.string({ minLength: 1 }).filter((value) => value.trim() !== '');
    const respell = fc.func(fc.option(text, { nil: null }));
    fc.assert(
      fc.property(respell, text, text, text, (make, first, next, edit) => {
        const stored = make(first);
        const wrote = { last: first, ...(!same(stored, first) && { stored }) };
        expect(decided('tracked', [stored, first], wrote).action).toBe('skip');
        if (!same(stored, next) && !same(first, next))
          expect(decided('tracked', [stored, next], wrote).action).toBe('write');
        const isOurs = [first, stored, next].some((value) => same(value, edit));
        if (!isOurs) expect(said(decided('tracked', [edit, next], wrote))).toBe('keep: edited');
      }),
    );
  });
});
