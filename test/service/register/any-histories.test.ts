/** For any history and any change of sources, each change is sent once. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { documentOf } from '../../../src/commands/emulate/sample/document.ts';
import type { Version } from '../../../src/commands/emulate/sample/value-runs.ts';
import type { SampleCompany } from '../../../src/protocol/sample/company.ts';
import { isJsonObject } from '../../../src/protocol/text/json.ts';
import type { Origin } from '../../../src/service/register/source/source.ts';
import { runs } from '../../support/all.ts';
import { newStore } from '../../support/stores.ts';
import { HOUR, type Json, ORDERS, twoSources } from './two-sources.ts';
import { life, oldCompanies, oldCompany } from './watch-fixture.ts';

describe('for any history and any change of sources', () => {
  const TEXTS = ['name', 'phoneNumber', 'purpose'] as const;
  const FIRST = { name: 'Navn 0 ApS', phoneNumber: '20000000', purpose: 'Formål 0' } as const;
  const step = fc.record({
    order: fc.constantFrom(...ORDERS),
    /** Which of the values change, and in which order the sources load them. */
    changes: fc.subarray([...TEXTS], { minLength: 1 }),
    isReversed: fc.boolean(),
    /** A source may miss a state, because it loads the next one first. */
    missed: fc.constantFrom<readonly Origin[]>([], ['cvr'], ['datafordeler']),
    /** A source may give an older state than the other, as a weekly file does. */
    behind: fc.constantFrom<readonly Origin[]>([], ['cvr'], ['datafordeler']),
    hours: fc.integer({ min: 0, max: 72 }),
  });

  test('each sent value is newer than the previous one, none is sent twice, and the last one is sent', async () => {
    const store = await newStore('sqlite');
    const companies = oldCompanies(100, FIRST);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 7 }), async (steps) => {
        const { changes, ...two } = await twoSources(store);
        const before = (await changes()).length;
        const first = await play(two, steps, companies.next().value);
        const told = (await changes()).slice(before);
        for (const event of TEXTS) {
          const values = told.flatMap(({ updates }) => indexIn(updates[event]));
          const last = steps.findLastIndex(({ changes: changed }, at) => at > first && changed.includes(event));
          // Datafordeler alone carries no purpose.
          if (event !== 'purpose') expect(values.at(-1) ?? -1, event).toBe(last);
          expect(values, event).toEqual([...new Set(values)].sort((a, b) => a - b));
          expect(values, event).not.toContain(0);
        }
      }),
      { numRuns: runs(60) },
    );
  });

  test('each history is of a separate company, although two seeds once gave one number', () => {
    expect(oldCompany(745).entityId).toBe(oldCompany(662).entityId);
    const numbers = oldCompanies(662)
      .take(84)
      .map(({ entityId }) => entityId);
    expect(new Set(numbers).size).toBe(84);
  });

  interface Step {
    readonly order: readonly Origin[];
    readonly changes: readonly string[];
    readonly isReversed: boolean;
    readonly missed: readonly Origin[];
    readonly behind: readonly Origin[];
    readonly hours: number;
  }

  type Two = Awaited<ReturnType<typeof twoSources>>;

  /** Returns the index of the state that is stored first; in the end all sources say the last one. */
  async function play(
    { say, forward, now }: Pick<Two, 'say' | 'forward' | 'now'>,
    steps: readonly Step[],
    start: SampleCompany,
  ): Promise<number> {
    const versions = life(start);
    const states: number[] = [];
    for (const [index, step] of steps.entries()) {
      forward(step.hours * HOUR);
      if (index > 0) versions.push(next(versions, step.changes, index, now()));
      for (const origin of sayingIn(step)) {
        forward(60_000);
        const isBehind = step.behind.includes(origin);
        const [document, loadedAt] = isBehind ? former(versions, now()) : [documentOf(versions), now()];
        // There is no state before the first one.
        states.push(Math.max(0, index - Number(isBehind)));
        await say(origin, step.order, document, loadedAt);
      }
    }
    await sayAll({ say, forward }, steps.at(-1)?.order ?? [], documentOf(versions));
    return states[0] ?? steps.length;
  }

  async function sayAll({ say, forward }: Pick<Two, 'say' | 'forward'>, order: readonly Origin[], document: Json) {
    for (const origin of order) {
      forward(2 * HOUR);
      await say(origin, order, document);
    }
  }

  function sayingIn({ order, missed, isReversed }: Step): readonly Origin[] {
    const origins = order.filter((origin) => !missed.includes(origin));
    return isReversed ? origins.toReversed() : origins;
  }

  /** The state before the last one, as it was loaded then. */
  function former([first, ...rest]: readonly [Version, ...Version[]], now: number): readonly [Json, number] {
    const last = rest.at(-1);
    if (last === undefined) return [documentOf([first]), now];
    return [documentOf([first, ...rest.slice(0, -1)]), last.at - 60_000];
  }

  /** Which state of the company a told value is of. */
  const indexIn = (update: unknown): readonly number[] => {
    const after = isJsonObject(update) ? update['after'] : undefined;
    return typeof after === 'string' ? [Number(/\d+/u.exec(after)?.[0]) % 1_000] : [];
  };

  const next = (versions: readonly Version[], changing: readonly string[], index: number, at: number): Version => {
    const { company } = versions.at(-1) ?? { company: oldCompany(0) };
    const all: Partial<SampleCompany> = {
      name: `Navn ${index} ApS`,
      phoneNumber: String(20_000_000 + index),
      purpose: `Formål ${index}`,
    };
    const is = Object.fromEntries(Object.entries(all).filter(([key]) => changing.includes(key)));
    return { company: { ...company, ...is }, from: new Date(at).toISOString().slice(0, 10), at };
  };
});
