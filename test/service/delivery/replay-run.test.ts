/** Replays of deliveries as runs: previewed, carried out once, cancelled, and resumed after the process ended during one. */
import { describe, expect, it } from 'vitest';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { readAudit } from '../../../src/runtime/operators/audit.ts';
import { countItems } from '../../../src/runtime/runs/run-items.ts';
import { cancelRun, confirmRun, findRun, requestPreview } from '../../../src/runtime/runs/runs.ts';
import { workOnRuns } from '../../../src/runtime/runs/work.ts';
import { REPLAY, type ReplayRequest } from '../../../src/service/delivery/replay/replay-task.ts';
import { replayWork } from '../../../src/service/delivery/replay/replay-work.ts';
import type { Store } from '../../../src/store/store.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { made } from '../monitored.ts';

const IDA = { actor: { kind: 'operator', name: 'Ida' }, via: 'page' } as const;
const NOW = 1_000_000;
const MANY = 1_200;

/** A monitor with many held deliveries, and another one that is off. */
async function holding(engine: (typeof SUITE_ENGINES)[number]) {
  const store = await newStore(engine);
  const hook = { url: 'https://hooks.example.com/a', target: 'all' } as const;
  const [on, off] = [await made(store, hook), await made(store, hook)];
  await store.write(async (tx) => {
    await tx.updateTable('monitor').set({ enabled: 0 }).where('id', '=', off.id).execute();
    const row = { events: '["status"]', attempts: 0, state: 'held', next_at: 0, created_at: 1 } as const;
    for (const { monitor, count } of [
      { monitor: on.id, count: MANY },
      { monitor: off.id, count: 2 },
    ]) {
      const rows = [...Array(count).keys()].map((n) => ({
        ...row,
        change: n,
        monitor,
        entity: `CVR-1-${10_000_000 + n}`,
      }));
      for (let start = 0; start < count; start += 400)
        await tx
          .insertInto('delivery')
          .values(rows.slice(start, start + 400))
          .execute();
    }
    await tx.deleteFrom('lane').execute();
  });
  return { store, monitor: on.id };
}

const work = async (store: Store, at = NOW, signal = new AbortController().signal, ring = (_: string) => {}) => {
  const claims = await claim(store, REPLAY.queue, { limit: 1, now: at, leaseMs: 30_000 });
  const deps = { store, now: () => at };
  await workOnRuns(deps, replayWork({ ...deps, ring }), claims, signal);
};
const asked = async (store: Store, input: ReplayRequest): Promise<number> => {
  const id = await store.write((tx) => requestPreview(tx, REPLAY, { input, ...IDA }, NOW));
  await work(store);
  return id;
};
const begin = (store: Store, id: number) => store.write((tx) => confirmRun(tx, REPLAY, { id, ...IDA }, NOW));
const due = async ({ db }: Store): Promise<number> =>
  (await db.selectFrom('delivery').select('seq').where('state', '=', 'due').execute()).length;
const results = async (store: Store, id: number) => Object.fromEntries(await countItems(store.db, id));

describe.each(SUITE_ENGINES)('a replay as a run on %s', (engine) => {
  it('changes nothing until it is confirmed, then sends the deliveries as the preview showed them', async () => {
    const { store, monitor } = await holding(engine);
    const id = await asked(store, {});
    expect(await results(store, id)).toEqual({ planned: MANY });
    expect([await due(store), (await findRun(store.db, id))?.total]).toEqual([0, MANY]);
    await store.write(async (tx) => {
      const of = (n: number) => tx.updateTable('delivery').where('entity', '=', `CVR-1-${10_000_000 + n}`);
      await of(0).set({ state: 'dropped', ended_at: NOW }).execute();
      await of(1).set({ state: 'done', ended_at: NOW }).execute();
    });
    await begin(store, id);
    const rung: string[] = [];
    await work(store, NOW, undefined, (queue) => void rung.push(queue));
    expect(await results(store, id)).toEqual({ due: MANY - 2, changed: 2 });
    expect([await due(store), new Set(rung)]).toEqual([MANY - 2, new Set(['deliver'])]);
    expect(await store.db.selectFrom('lane').select(['queue', 'key']).execute()).toEqual([
      { queue: 'deliver', key: monitor },
    ]);
    const audit = await readAudit(store.db, { action: 'delivery.replay' }, 5);
    expect(audit.map(({ actor, result }) => `${actor.name}: ${result}`)).toEqual([
      `Ida: done; ${MANY - 2} due, 2 changed`,
      `Ida: begun for ${MANY} deliveries`,
    ]);
  });

  it('takes the oldest deliveries up to its limit, and none from after the preview', async () => {
    const { store, monitor } = await holding(engine);
    expect(await results(store, await asked(store, { monitor, limit: 700 }))).toEqual({ planned: 700 });
    await store.write((tx) =>
      tx
        .updateTable('delivery')
        .set({ created_at: NOW + 1 })
        .where('seq', '>', 10)
        .execute(),
    );
    expect(await results(store, await asked(store, { monitor }))).toEqual({ planned: 10 });
  });

  it('resumes after its process ended, and stops where it is cancelled', async () => {
    const { store } = await holding(engine);
    const ids = [await asked(store, {}), await asked(store, {})];
    const [id = 0, other = 0] = ids;
    await begin(store, id);
    const stop = new AbortController();
    await expect(work(store, NOW, stop.signal, () => stop.abort())).rejects.toThrow('aborted');
    expect(await due(store)).toBe(500);
    await work(store, NOW + 60_000);
    expect([await due(store), await results(store, id)]).toEqual([MANY, { due: MANY }]);

    await store.write((tx) => tx.updateTable('delivery').set({ state: 'held' }).where('state', '=', 'due').execute());
    await begin(store, other);
    const cancel = () => store.write((tx) => cancelRun(tx, REPLAY, { id: other, ...IDA }, NOW));
    let cancelled: Promise<boolean> | undefined;
    await work(store, NOW, undefined, () => {
      cancelled ??= cancel();
    });
    expect(await cancelled).toBe(true);
    expect((await findRun(store.db, other))?.state).toBe('cancelled');
    const left = (await results(store, other))['planned'] ?? 0;
    expect(left).toBeGreaterThan(0);
    expect(await due(store)).toBe(MANY - left);
  });
});
