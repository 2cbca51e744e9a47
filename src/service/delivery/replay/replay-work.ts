/** Replays deliveries in the daemon, page by page. After a crash it goes on with the items that are still planned. */
import { countItems, readItemsOf, storeItems } from '../../../runtime/runs/run-items.ts';
import type { StoredRun } from '../../../runtime/runs/runs.ts';
import type { RunFollower, TaskWork } from '../../../runtime/runs/work.ts';
import type { Store } from '../../../store/store.ts';
import { listReplayable, replayNamed } from '../deliveries.ts';
import { itemOf, REPLAY, type ReplayRequest } from './replay-task.ts';

interface ReplayDeps {
  readonly store: Store;
  readonly now: () => number;
  readonly ring: (queue: string) => void;
}

/** Deliveries per transaction: few enough not to block webhooks and requests. */
const STEP = 500;

export const replayWork = (deps: ReplayDeps): TaskWork<ReplayRequest> => ({
  task: REPLAY,
  work: (run, follower) => (run.stage === 'preview' ? plan(deps, run, follower) : replay(deps, run, follower)),
});

/** Stores the deliveries that would be sent, as they are at the preview. */
async function plan(
  { store }: ReplayDeps,
  { id, input: { limit = Number.POSITIVE_INFINITY, ...filter }, createdAt }: StoredRun<ReplayRequest>,
  { signal, step }: RunFollower,
): Promise<void> {
  const until = Math.min(filter.until ?? createdAt + 1, createdAt + 1);
  let total = 0;
  for (let from: number | undefined = 0; from !== undefined; ) {
    signal.throwIfAborted();
    const size = Math.min(STEP, limit - total);
    const page: Awaited<ReturnType<typeof listReplayable>> =
      size === 0 ? [] : await listReplayable(store.db, { ...filter, until, from }, size);
    total += page.length;
    await step({ done: total, total: null }, (tx) =>
      storeItems(
        tx,
        id,
        page.map((each) => itemOf(each, 'planned')),
      ),
    );
    const last = page.at(-1)?.seq;
    from = last === undefined || page.length < size ? undefined : last + 1;
  }
  await step({ done: total, total });
}

/** Makes the deliveries due that nobody sent or dropped since the preview. */
async function replay(
  { store, now, ring }: ReplayDeps,
  { id, input, previewedAt }: StoredRun<ReplayRequest>,
  { signal, step }: RunFollower,
): Promise<void> {
  const counts = await countItems(store.db, id);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let done = total - (counts.get('planned') ?? 0);
  const bounds = { ...(input.state !== undefined && { state: input.state }), endedBefore: previewedAt ?? now() };
  for (;;) {
    signal.throwIfAborted();
    const some = await readItemsOf(store.db, id, 'planned', STEP);
    done += some.length;
    await step({ done, total }, async (tx) => {
      const seqs = some.map(({ key }) => Number(key));
      const due = new Set(await replayNamed(tx, seqs, bounds, now()));
      const results = some.map((item) => ({ ...item, kind: due.has(Number(item.key)) ? 'due' : 'changed' }));
      await storeItems(tx, id, results, 'due');
    });
    ring('deliver');
    if (some.length < STEP) return;
  }
}
