/** A worker on a store of its own, for tests of what it does with lanes. */
import { onTestFinished } from 'vitest';
import { type Claim, mark, settleAll } from '../../src/runtime/lanes/lanes.ts';
import { createWakeUp, type WakeUp } from '../../src/runtime/wake-up.ts';
import { startWorker, type Worker, type WorkerOptions } from '../../src/runtime/worker.ts';
import type { Store } from '../../src/store/store.ts';
import { newStore } from '../support/stores.ts';

export const Q = 'sync';
export const keys = (claims: readonly Claim[]) => claims.map(({ key }) => key);
export const names = (count: number) => Array.from({ length: count }, (_, i) => `lane ${String(i).padStart(3, '0')}`);
export const done = (store: Store, claims: readonly Claim[]) =>
  store.write((tx) =>
    settleAll(
      tx,
      claims.map((each) => [each, { kind: 'done' }]),
    ),
  );

export interface Setup {
  readonly store: Store;
  readonly wakeUp: WakeUp;
  readonly worker: Worker;
  readonly errors: string[];
  marks(lanes: readonly string[], at?: number): Promise<void>;
}

export async function working(
  options: Partial<WorkerOptions>,
  before?: (store: Store) => Promise<unknown>,
): Promise<Setup> {
  const store = options.store ?? (await newStore('sqlite'));
  await before?.(store);
  const wakeUp = createWakeUp();
  const errors: string[] = [];
  const worker = startWorker({
    store,
    wakeUp,
    queue: Q,
    batch: 10,
    concurrency: 1,
    pollMs: 50,
    now: Date.now,
    log: { error: (_, message) => errors.push(message) },
    run: async (claims) => void (await done(store, claims)),
    ...options,
  });
  onTestFinished(() => worker.stop(0));
  const marks = async (lanes: readonly string[], at = Date.now()) => {
    await store.write((tx) => mark(tx, Q, lanes, at));
    wakeUp.ring(Q);
  };
  return { store, wakeUp, worker, errors, marks };
}

export const prepared =
  (count: number, since = 0) =>
  (store: Store) =>
    store.write((tx) => mark(tx, Q, names(count), since));
