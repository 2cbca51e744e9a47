import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Claim, claim, mark, type Settlement, settleAll } from '../../src/runtime/lanes/lanes.ts';
import type { Store } from '../../src/store/store.ts';
import { runs } from '../support/all.ts';
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
interface Model {
  now: number;
  readonly unseen: Set<string>;
  readonly owner: Map<string, Claim>;
  /** Every claim there was. */
  readonly claims: Claim[];
}

async function settleOne(store: Store, model: Model, { which, kind }: Extract<Step, { do: 'settle' }>): Promise<void> {
  const { now, unseen, owner, claims } = model;
  const claimed = claims[which % Math.max(1, claims.length)];
  if (claimed === undefined) return;
  const rightful = owner.get(claimed.key) === claimed;
  const settlement: Settlement = kind === 'done' ? { kind: 'done' } : { kind, at: now + 50, error: 'x' };
  const settled = await store.write((tx) => settleAll(tx, [[claimed, settlement]]));
  expect(settled.has(claimed.key)).toBe(rightful);
  if (!rightful) return;
  owner.delete(claimed.key);
  // A run that did not succeed has not dealt with what it saw, unless a person is to look at it.
  if (kind === 'again') unseen.add(claimed.key);
}

async function take(store: Store, { now, unseen, owner, claims }: Model, limit: number): Promise<void> {
  for (const claimed of await claim(store, Q, { limit, now, leaseMs: LEASE })) {
    unseen.delete(claimed.key);
    owner.set(claimed.key, claimed);
    claims.push(claimed);
  }
}

async function perform(store: Store, model: Model, step: Step): Promise<void> {
  switch (step.do) {
    case 'wait':
      model.now += step.ms;
      return;
    case 'mark':
      await store.write((tx) => mark(tx, Q, step.keys, model.now));
      for (const key of step.keys) model.unseen.add(key);
      return;
    case 'claim':
      return take(store, model, step.limit);
    case 'settle':
      return settleOne(store, model, step);
  }
}

describe.each(ENGINES)('lanes on %s, whatever happens to them', (engine) => {
  it('lose no mark, and obey only the last owner', async () => {
    const store = await newStore(engine);
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        await store.write((tx) => tx.deleteFrom('lane').execute());
        const model: Model = { now: 1_000, unseen: new Set(), owner: new Map(), claims: [] };
        for (const step of list) await perform(store, model, step);
        // Runs that never came back have dealt with nothing.
        const behind = new Set([...model.unseen, ...model.owner.keys()]);
        const claims = await claim(store, Q, { limit: 10, now: model.now + 1_000, leaseMs: LEASE });
        expect(claims.map(({ key }) => key).sort()).toEqual([...behind].sort());
      }),
      { numRuns: runs(engine === 'sqlite' ? 300 : 60) },
    );
  });
});
