/** One run of a monitor's lane: posts due deliveries, in order for each company, until its turn is over. */
import type { OutboundHttp } from '../../http/outbound/client.ts';
import type { Claim } from '../../runtime/lanes/lanes.ts';
import { LeaseLostError, leaseOf } from '../../runtime/lanes/lease.ts';
import type { Store } from '../../store/store.ts';
import type { Monitor } from '../monitors/monitor.ts';
import { type AttemptDeps, attempt, type Target } from './attempt.ts';
import type { Head } from './due.ts';
import { createDueQueue, type DueDelivery, type DueQueue, type DueQueueDeps } from './due-queue.ts';
import type { Ledger } from './ledger.ts';
import { takePosts } from './limits/posts.ts';
import type { Slots } from './limits/slots.ts';
import { webhookAt } from './post.ts';
import type { AttemptResult, RecordedAttempt } from './record-attempt.ts';

export interface RunDeps extends AttemptDeps, DueQueueDeps {
  readonly store: Store;
  transportTo(monitor: Monitor): { readonly http: OutboundHttp; readonly url: string | null };
  readonly ledger: Ledger;
  /** Shared by all runs. */
  readonly slots: Slots;
  /** Concurrent posts to a monitor; outcomes change the number. */
  limit(monitor: string): number;
  observe(monitor: string, head: Head, result: AttemptResult): void;
  lost(monitor: string): void;
}

const UNWRITTEN = 256;
/** How often a run looks for newly due deliveries while posts hang. */
const LOOK_MS = 500;
/** After this many posts or this long, other monitors go first, once all posts are on disk. */
const SLICE_POSTS = 16_000;
const SLICE_MS = 10_000;

interface Run {
  readonly claim: Claim;
  readonly target: Target;
  readonly due: DueQueue;
  readonly busy: Set<string>;
  readonly signal: AbortSignal;
  posting: number;
  left: number;
  permitted: number;
  /** When the webhook accepts the next post, if that is later; the run ends then. */
  resumeAt: number | undefined;
  readonly until: number;
  recorded: RecordedAttempt;
  /**
   * The first error. The run throws it at the end: running posts must finish and be stored before the lane goes to
   * another process.
   */
  failure: unknown;
  wake(): void;
}

/** Works on the lane and settles it. Rejects after all posts have ended. */
export async function runLane(deps: RunDeps, claim: Claim, monitor: Monitor, signal: AbortSignal): Promise<void> {
  const run = openRun(deps, claim, monitor, signal);
  const { due } = run;
  while (goesOn(run)) {
    await postAll(deps, run);
    if (!goesOn(run)) break;
    const isIdle = due.isEmpty && !due.mayHaveMore;
    run.recorded = await deps.ledger.write({ claim, ending: isIdle ? 'if-idle' : 'yield', againAt: run.resumeAt });
    due.expectMore();
  }
  if (run.failure !== undefined) throw run.failure;
  if (run.recorded === 'lost') deps.lost(monitor.id);
  if (run.recorded === 'off') await deps.ledger.write({ claim, ending: 'over' });
  if (run.recorded === 'moved') await deps.ledger.write({ claim, ending: 'yield' });
}

function openRun(deps: RunDeps, claim: Claim, monitor: Monitor, signal: AbortSignal): Run {
  const { http, url } = deps.transportTo(monitor);
  const webhook = url === null ? undefined : webhookAt(url, monitor.security);
  const lease = leaseOf(deps.store, [claim], deps.now);
  return {
    claim,
    target: { monitor, http, webhook, lease },
    due: createDueQueue(deps, monitor.id),
    busy: new Set(),
    signal,
    posting: 0,
    left: SLICE_POSTS,
    permitted: 0,
    resumeAt: undefined,
    until: performance.now() + SLICE_MS,
    recorded: 'open',
    failure: undefined,
    wake() {},
  };
}

const goesOn = ({ recorded, failure, signal }: Run): boolean =>
  recorded === 'open' && failure === undefined && !signal.aborted;

const mayStart = (run: Run): boolean =>
  goesOn(run) && run.left > 0 && run.resumeAt === undefined && performance.now() < run.until;

async function postAll(deps: RunDeps, run: Run): Promise<void> {
  for (;;) {
    if (run.due.isEmpty && run.due.mayHaveMore && mayStart(run)) await refill(run);
    if (!run.due.isEmpty && run.permitted === 0 && mayStart(run)) await askPermit(deps, run);
    startPosts(deps, run);
    if (run.busy.size > 0) await somethingEnded(run);
    else if (!(run.due.mayHaveMore && mayStart(run))) return;
  }
}

async function refill(run: Run): Promise<void> {
  try {
    await run.due.refill(run.busy);
  } catch (error) {
    run.failure ??= error;
  }
}

async function askPermit(deps: RunDeps, run: Run): Promise<void> {
  try {
    const { posts, nextAt } = await takePosts(deps.store, run.target.monitor, deps.now());
    run.permitted = posts;
    if (posts === 0) run.resumeAt = nextAt;
  } catch (error) {
    run.failure ??= error;
  }
}

function startPosts(deps: RunDeps, run: Run): void {
  const { due, busy, target } = run;
  while (mayStart(run) && run.permitted > 0 && run.posting < deps.limit(target.monitor.id) && busy.size < UNWRITTEN) {
    const next = due.next();
    if (next === undefined) return;
    busy.add(next.head.entity);
    run.left -= 1;
    run.permitted -= 1;
    void deliver(deps, run, next);
  }
}

/** Waits for the end of a post or write; if the queue is empty, at most until the next look. */
async function somethingEnded(run: Run): Promise<void> {
  const lookAgain = () => {
    run.due.expectMore();
    run.wake();
  };
  const look = run.due.isEmpty && mayStart(run) ? setTimeout(lookAgain, LOOK_MS) : undefined;
  await new Promise<void>((resolve) => {
    run.wake = resolve;
  });
  clearTimeout(look);
}

async function deliver(deps: RunDeps, run: Run, next: DueDelivery): Promise<void> {
  const { head } = next;
  try {
    const result = await postInPlace(deps, run, next);
    if (result !== undefined) await write(deps, run, head, result);
  } catch (error) {
    if (error instanceof LeaseLostError) run.recorded = 'lost';
    else run.failure ??= error;
  } finally {
    run.busy.delete(head.entity);
    run.wake();
  }
}

async function postInPlace(deps: RunDeps, run: Run, next: DueDelivery): Promise<AttemptResult | undefined> {
  run.posting += 1;
  await deps.slots.take();
  try {
    return await attempt(deps, run.target, next, run.signal);
  } finally {
    deps.slots.give();
    run.posting -= 1;
    run.wake();
  }
}

async function write(deps: RunDeps, run: Run, head: Head, result: AttemptResult): Promise<void> {
  const { claim, due, busy, target } = run;
  deps.observe(target.monitor.id, head, result);
  const isLast = busy.size === 1 && due.isEmpty && !due.mayHaveMore && head.more === 0;
  const written = await deps.ledger.write({ claim, result, ending: isLast ? 'if-idle' : 'go-on' });
  if (written !== 'open') run.recorded = written;
  // Only now is the company's next delivery visible.
  else if (isLast || head.more === 1) due.expectMore();
}
