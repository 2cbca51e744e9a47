import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Claim, claim, mark, type Settlement, settleAll } from '../../src/runtime/lanes/lanes.ts';
import { ENGINES, newStore } from '../support/stores.ts';

const Q = 'sync';
const KEYS = ['a', 'b', 'c', 'd'];
const LEASE = 100;

type Step =
  | { readonly do: 'mark'; readonly keys: readonly string[] }
  | { readonly do: 'claim'; readonly limit: number }
  | { readonly do: 'settle'; readonly which: number; readonly kind: Settlement['kind'] }
  | { readonly do: 'wait'; readonly ms: number };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('mark' as const), keys: fc.subarray(KEYS, { minLength: 1 }) }),
    fc.record({ do: fc.constant('claim' as const), limit: fc.integer({ min: 1, max: 3 }) }),
    fc.record({
      do: fc.constant('settle' as const),
      which: fc.nat(5),
      kind: fc.constantFrom('done' as const, 'again' as const, 'parked' as const),
    }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 150 }) }),
  ),
  { maxLength: 40 },
);

/**
 * The model knows of each key only which marks no run has seen yet, and who may settle. Whatever happens, a key with an
 * unseen mark has a lane that a worker can still get, and nobody settles but the last to claim.
 */
describe.each(ENGINES)('lanes on %s, whatever happens to them', (engine) => {
  it('lose no mark, and heed no owner but the last', async () => {
    const store = await newStore(engine);
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        await store.write((tx) => tx.deleteFrom('lane').execute());
        let now = 1_000;
        const unseen = new Set<string>();
        const owner = new Map<string, Claim>();
        const old: Claim[] = [];
        for (const step of list) {
          if (step.do === 'wait') now += step.ms;
          if (step.do === 'mark') {
            await store.write((tx) => mark(tx, Q, step.keys, now));
            for (const key of step.keys) unseen.add(key);
          }
          if (step.do === 'claim') {
            for (const claimed of await claim(store, Q, { limit: step.limit, now, leaseMs: LEASE })) {
              unseen.delete(claimed.key);
              owner.set(claimed.key, claimed);
              old.push(claimed);
            }
          }
          if (step.do === 'settle') {
            const claimed = old[step.which % Math.max(1, old.length)];
            if (claimed === undefined) continue;
            const rightful = owner.get(claimed.key) === claimed;
            const settlement: Settlement =
              step.kind === 'done' ? { kind: 'done' } : { kind: step.kind, at: now + 50, error: 'x' };
            const settled = await store.write((tx) => settleAll(tx, [[claimed, settlement]]));
            expect(settled.has(claimed.key)).toBe(rightful);
            if (!rightful) continue;
            owner.delete(claimed.key);
            // A run that did not succeed has not dealt with what it saw, unless a person is to look at it.
            if (step.kind === 'again') unseen.add(claimed.key);
          }
        }
        // Runs that never came back have dealt with nothing.
        for (const key of owner.keys()) unseen.add(key);
        const claims = await claim(store, Q, { limit: 10, now: now + 1_000, leaseMs: LEASE });
        expect(claims.map(({ key }) => key).sort()).toEqual([...unseen].sort());
      }),
      { numRuns: engine === 'sqlite' ? 300 : 60 },
    );
  });
});
