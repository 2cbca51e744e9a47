/** An erasure that a person asks for, without its command. */
import { type Erasure, erase } from '../../../src/commands/erase/erase-entity.ts';
import type { Store } from '../../../src/store/store.ts';

/** Erases an entity. */
export const eraseByHand = (store: Store, entity: string): Promise<Erasure> =>
  erase(store, entity, {
    now: Date.now,
    actor: { kind: 'operator', name: 'tester' },
    signal: AbortSignal.timeout(60_000),
  });
