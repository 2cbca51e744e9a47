import type { OutboundHttp } from '../../http/outbound/client.ts';
import type { Lease } from '../../runtime/lanes/lease.ts';
import { inSpan } from '../../telemetry/trace.ts';
import type { Monitor } from '../monitors/monitor.ts';
import type { DueDelivery } from './due-queue.ts';
import { type Posted, post, type Webhook, webhookId } from './post.ts';
import type { AttemptResult } from './record-attempt.ts';
import { firstWait, nextWait } from './schedule.ts';

export interface AttemptDeps {
  readonly now: () => number;
  readonly random: () => number;
  readonly schedule: readonly number[];
  readonly log: { debug?(details: object, message: string): void };
}

export interface Target {
  readonly monitor: Monitor;
  readonly http: OutboundHttp;
  readonly webhook: Webhook | undefined;
  readonly lease: Lease;
}

/** How long a confirmed lease counts: a query before every post would cost too much. */
const LEASE_AGE_MS = 1_000;

/** Attempts a delivery; undefined if the signal stopped it. */
export async function attempt(
  deps: AttemptDeps,
  { monitor, http, webhook, lease }: Target,
  { head, body }: DueDelivery,
  signal: AbortSignal,
): Promise<AttemptResult | undefined> {
  const { seq } = head;
  const { url } = monitor;
  const repeated = (head.replayed_from ?? 0) > 0;
  const schedule = monitor.schedule ?? deps.schedule;
  if (body === undefined || webhook === undefined)
    return { seq, url, number: head.attempts, state: 'dropped', nextAt: 0, repeated };
  const earliest = head.created_at + firstWait(schedule);
  if (head.attempts === 0 && head.replayed_from === null && deps.now() < earliest)
    return { seq, url, number: 0, state: 'due', nextAt: earliest, repeated };
  const number = head.attempts + 1;
  const message = { id: webhookId(body.change, monitor.id), body: body.bytes, attempt: number };
  await lease.confirm(LEASE_AGE_MS);
  const posted = await inSpan(
    'deliver',
    () => ({
      kind: 'lane',
      attributes: { 'cvrsync.monitor': monitor.id, 'cvrsync.entity': head.entity, 'cvrsync.attempt': number },
      links: body.trace === null ? [] : [body.trace],
    }),
    () => post(http, webhook, message, { now: deps.now, signal }),
  );
  if (posted === undefined) return undefined;
  const { status, fault, took } = posted;
  const sent = { request: message.id, monitor: monitor.id, entity: head.entity, attempt: number };
  deps.log.debug?.({ ...sent, status: status ?? fault, ms: Math.round(took) }, 'a webhook was sent');
  const tried = number - (head.replayed_from ?? 0);
  return { seq, url, posted, number, repeated, ...afterPost(posted, tried, schedule, deps) };
}

/** The delivery's state after a post; `tried` counts the attempts of its schedule, with this one. */
function afterPost(
  { outcome, retryAfterMs }: Posted,
  tried: number,
  schedule: readonly number[],
  { now, random }: AttemptDeps,
): Pick<AttemptResult, 'state' | 'nextAt'> {
  if (outcome.kind === 'done') return { state: 'done', nextAt: 0 };
  const wait = nextWait(tried, schedule, { retryAfterMs, random });
  // The delivery stays due and is held with the others of a disabled webhook.
  if (outcome.disable) return { state: 'due', nextAt: now() };
  if (wait === undefined || outcome.abort) return { state: 'failed', nextAt: 0 };
  return { state: 'due', nextAt: now() + wait };
}
