/** Periodic tasks: what a run of several does to their lanes. */
import { expect, it } from 'vitest';
import { runTasks, seedTasks, type TaskDeps, type Tasks } from '../../../src/runtime/housekeeping/periodic-tasks.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, newStore } from '../../support/stores.ts';

const NOW = 1_000_000;
const LEASE = { limit: 20, now: NOW, leaseMs: 30_000 };

it.each(ENGINES)(
  'tasks that are due at once are rescheduled by one write, and a failed one delays no other (%s)',
  async (engine) => {
    const store = await newStore(engine);
    let writes = 0;
    const counted: Store = {
      ...store,
      write(...args) {
        writes += 1;
        return store.write(...args);
      },
    };
    const ran: string[] = [];
    const task = (name: string) => ({ everyMs: 60_000, run: async () => void ran.push(name) });
    const fails = { everyMs: 60_000, run: async () => Promise.reject(new Error('no room')) };
    const tasks: Tasks<TaskDeps> = { a: task('a'), b: task('b'), c: fails, d: task('d') };
    await store.write((tx) => seedTasks(tx, 'tasks', tasks, NOW));
    const claims = await claim(store, 'tasks', LEASE);
    const run = runTasks({ store: counted, now: () => NOW }, tasks, claims, new AbortController().signal);
    await expect(run).rejects.toThrow('no room');
    expect([ran, writes]).toEqual([['a', 'b'], 1]);
    const lanes = await store.db.selectFrom('lane').select(['key', 'due_at', 'fence']).orderBy('key').execute();
    const held = expect.any(Number);
    expect(lanes).toEqual([
      { key: 'a', due_at: NOW + 60_000, fence: null },
      { key: 'b', due_at: NOW + 60_000, fence: null },
      { key: 'c', due_at: NOW, fence: held },
      { key: 'd', due_at: NOW, fence: held },
    ]);
  },
);
