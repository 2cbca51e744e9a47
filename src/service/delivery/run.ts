/** One run of a monitor's lane: posts what is due, company by company in order, until nothing is or others should go first. */
import type { OutboundHttp } from '../../http/outbound/client.ts';
import type { Claim } from '../../runtime/lanes/lanes.ts';
import { type Lease, LeaseLostError, leaseOf } from '../../runtime/lanes/lease.ts';
import type { Db, Store } from '../../store/store.ts';
import type { Monitor } from '../monitors/monitor.ts';
import type { DeliveryBodies, DeliveryBody } from './bodies.ts';
import { dueHeads, type Head } from './due.ts';
import type { Ledger } from './ledger.ts';
import { post, type Webhook, webhookAt, webhookId } from './post.ts';
import type { AttemptResult, RecordedAttempt } from './record.ts';
import { firstWait, nextWait } from './schedule.ts';
import type { Slots } from './slots.ts';

export interface RunDeps {
  readonly db: Db;
  readonly store: Store;
  /** Where a monitor's webhook is, and the client that reaches it. */
  transportTo(monitor: Monitor): { readonly http: OutboundHttp; readonly url: string | null };
  readonly now: () => number;
  readonly random: () => number;
  readonly ledger: Ledger;
  readonly bodies: DeliveryBodies;
  /** Places of posts under way, of all runs together. */
  readonly slots: Slots;
  /** Places of looks at the store: ten thousand at once would wait for a connection until that fails. */
  readonly looks: Slots;
  /** Seconds before each attempt, where the monitor has none of its own. */
  readonly schedule: readonly number[];
  /** How many posts may be under way to a monitor now; what came of one changes that. */
  limit(monitor: string): number;
  /** Counts an attempt, and lets a webhook that asks for less have less at a time. */
  observe(monitor: string, head: Head, result: AttemptResult): void;
  /** Hears of a monitor whose lane went to another process meanwhile. */
  lost(monitor: string): void;
}

/** Deliveries that are looked up at once. */
const PAGE = 256;
/** Attempts that were made and are not on disk yet. */
const UNWRITTEN = 256;
/** While posts hang, what else became due is looked for this often. */
const LOOK_MS = 500;
/** What the store said of the lease holds for so long, and never beyond its end: a query a post would cost too much. */
const LEASE_AGE_MS = 1_000;
/** After so many posts or so long, other monitors go first. */
const SLICE_POSTS = 2_000;
const SLICE_MS = 10_000;

/** Works on the lane and settles it. Rejects where that failed; what is under way has ended then. */
export async function runLane(deps: RunDeps, claim: Claim, monitor: Monitor, signal: AbortSignal): Promise<void> {
  const { ledger, now } = deps;
  const until = performance.now() + SLICE_MS;
  const { http, url } = deps.transportTo(monitor);
  const webhook = url === null ? undefined : webhookAt(url, monitor.security);
  /** Companies whose delivery is under way, or not on disk yet. */
  const busy = new Set<string>();
  const lease = leaseOf(deps.store, [claim], now);
  let posting = 0;
  let waiting: { readonly head: Head; readonly body: DeliveryBody | undefined }[] = [];
  let left = SLICE_POSTS;
  /** There may be heads that were not looked up. */
  let more = true;
  const so: { far: RecordedAttempt; failure: unknown } = { far: 'open', failure: undefined };
  let wake = () => {};

  const goesOn = () => so.far === 'open' && so.failure === undefined && !signal.aborted;
  const mayStart = () => goesOn() && left > 0 && performance.now() < until;

  function lookAgain(): void {
    more = true;
    wake();
  }

  async function refill(): Promise<void> {
    more = false;
    // What ends meanwhile may still seem due to this look: it is left to the next.
    const before = new Set(busy);
    const asked = before.size + PAGE;
    await deps.looks.take();
    try {
      const heads = await dueHeads(deps.db, monitor.id, now(), asked);
      if (heads.length === asked) more = true;
      const fresh = heads.filter(({ entity }) => !before.has(entity));
      const bodies = await deps.bodies.load(deps.db, fresh);
      waiting = fresh.map((head, at) => ({ head, body: bodies[at] }));
    } catch (error) {
      // Not thrown: what is under way must end, and be written, before the lane goes to another.
      so.failure ??= error;
    } finally {
      deps.looks.give();
    }
  }

  async function deliver(head: Head, body: DeliveryBody | undefined): Promise<void> {
    try {
      posting += 1;
      await deps.slots.take();
      const result = await attempt(deps, monitor, { http, webhook, lease }, head, body, signal).finally(() => {
        deps.slots.give();
        posting -= 1;
        wake();
      });
      if (result === undefined) return;
      deps.observe(monitor.id, head, result);
      const isLast = busy.size === 1 && waiting.length === 0 && !more && head.more === 0;
      const written = await ledger.write({ claim, result, ending: isLast ? 'if-idle' : 'go-on' });
      if (written !== 'open') so.far = written;
      // Only now can the next of its company be seen.
      else if (isLast || head.more === 1) more = true;
    } catch (error) {
      if (error instanceof LeaseLostError) so.far = 'lost';
      else so.failure ??= error;
    } finally {
      busy.delete(head.entity);
      wake();
    }
  }

  /** Posts until nothing more is found, or others should go first. */
  async function postAll(): Promise<void> {
    for (;;) {
      if (waiting.length === 0 && more && mayStart()) await refill();
      while (waiting.length > 0 && posting < deps.limit(monitor.id) && busy.size < UNWRITTEN && mayStart()) {
        const next = waiting.shift();
        if (next === undefined) break;
        busy.add(next.head.entity);
        left -= 1;
        void deliver(next.head, next.body);
      }
      if (busy.size > 0) {
        const look = waiting.length === 0 && mayStart() ? setTimeout(lookAgain, LOOK_MS) : undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        clearTimeout(look);
      } else if (!(more && mayStart())) return;
    }
  }

  while (goesOn()) {
    await postAll();
    if (!goesOn()) break;
    const isIdle = waiting.length === 0 && !more;
    so.far = await ledger.write({ claim, ending: isIdle ? 'if-idle' : 'yield' });
    more = true;
  }
  if (so.failure !== undefined) throw so.failure;
  if (so.far === 'lost') deps.lost(monitor.id);
  if (so.far === 'off') await ledger.write({ claim, ending: 'over' });
}

/** One attempt of a delivery; undefined where it was stopped. */
async function attempt(
  deps: RunDeps,
  monitor: Monitor,
  {
    http,
    webhook,
    lease,
  }: { readonly http: OutboundHttp; readonly webhook: Webhook | undefined; readonly lease: Lease },
  head: Head,
  body: DeliveryBody | undefined,
  signal: AbortSignal,
): Promise<AttemptResult | undefined> {
  const { seq } = head;
  const repeated = (head.replayed_from ?? 0) > 0;
  const schedule = monitor.schedule ?? deps.schedule;
  if (body === undefined || webhook === undefined)
    return { seq, number: head.attempts, state: 'dropped', nextAt: 0, repeated };
  const earliest = head.created_at + firstWait(schedule);
  if (head.attempts === 0 && head.replayed_from === null && deps.now() < earliest)
    return { seq, number: 0, state: 'due', nextAt: earliest, repeated };
  const number = head.attempts + 1;
  const message = { id: webhookId(body.change, monitor.id), body: body.bytes, attempt: number };
  await lease.confirm(LEASE_AGE_MS);
  const posted = await post(http, webhook, message, deps.now, signal);
  if (posted === undefined) return undefined;
  const result = { seq, posted, number, repeated, nextAt: 0 };
  const { outcome } = posted;
  if (outcome.kind === 'done') return { ...result, state: 'done' };
  const { retryAfterMs } = posted;
  const wait = nextWait(number - (head.replayed_from ?? 0), schedule, { retryAfterMs, random: deps.random });
  // Of a webhook that is gone it stays due, and is held with the rest.
  if (outcome.disable) return { ...result, state: 'due', nextAt: deps.now() };
  if (wait === undefined || outcome.abort) return { ...result, state: 'failed' };
  return { ...result, state: 'due', nextAt: deps.now() + wait };
}
