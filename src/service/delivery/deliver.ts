/**
 * Delivers changes to the webhooks of monitors: at least once, in order for each monitor and company, independently for
 * each monitor. A lane is a monitor with something due.
 */

import type { Metrics } from '../../http/metrics.ts';
import type { OutboundHttp } from '../../http/outbound/client.ts';
import type { WireOptions } from '../../protocol/payload.ts';
import { type Claim, settle } from '../../runtime/lanes/lanes.ts';
import type { WakeUp } from '../../runtime/wake-up.ts';
import { startWorker, type Worker } from '../../runtime/worker.ts';
import type { Store } from '../../store/store.ts';
import type { Secrets } from '../keys/secrets.ts';
import { MAIL_QUEUE } from '../mail/queue.ts';
import { DELIVER_QUEUE } from '../names/queues.ts';
import { createBodies } from './bodies.ts';
import { type RunDeps, runLane } from './deliver-batch.ts';
import { type Head, loadMonitors } from './due.ts';
import { createLedger } from './ledger.ts';
import { createSlots } from './limits/slots.ts';
import { isOwnJob, OWN_CONNECTOR, ownJobIds } from './own-jobs.ts';
import type { AttemptResult } from './record-attempt.ts';
import { SCHEDULE } from './schedule.ts';
import type { OwnTransport } from './transport.ts';

export interface DeliveryDeps extends WireOptions {
  readonly store: Store;
  readonly wakeUp: WakeUp;
  readonly now: () => number;
  readonly log: {
    error(details: object, message: string): void;
    warn(details: object, message: string): void;
    debug?(details: object, message: string): void;
  };
  readonly metrics: Pick<Metrics, 'deliveryAttempts' | 'deliverySeconds' | 'leaseLost'>;
  readonly secrets: Secrets;
  /** A client of openWebhookClient: guarded, with its deadlines. */
  readonly http: OutboundHttp;
  /** Reaches the webhook of the connector in this process; without it, another daemon does. */
  readonly ownTransport?: OwnTransport;
  readonly concurrency?: number;
  readonly schedule?: readonly number[] | undefined;
  /** Gets the notices about failing monitors that have no recipients. */
  readonly admin?: string | undefined;
  /** Of the times in these notices; Danish time if absent. */
  readonly timeZone?: string | undefined;
  readonly random?: () => number;
  readonly leaseMs?: number;
  readonly pollMs?: number;
}

const CONCURRENCY = 16;
/** Monitors per run, and runs: so many, because a webhook that hangs keeps the slot of its run. */
const BATCH = 64;
const RUNS = 512;
/** Each may need a connection. */
const POSTS = 1_024;
const LOOKS = 8;

/** Starts the worker. Ring `deliver` after publishing. */
export function startDelivery(deps: DeliveryDeps): Worker {
  const { store, wakeUp, now, log, metrics, secrets, concurrency = CONCURRENCY, random = Math.random } = deps;
  const limits = new Map<string, number>();
  const limit = (monitor: string) => limits.get(monitor) ?? concurrency;

  function observe(monitor: string, head: Head, { posted, state }: AttemptResult): void {
    if (posted === undefined) return;
    const { outcome, status, fault } = posted;
    const failed = fault ?? `${Math.floor((status ?? 0) / 100)}xx`;
    metrics.deliveryAttempts.inc({ result: state === 'done' ? 'done' : failed });
    if (state === 'done')
      metrics.deliverySeconds.observe(Math.max(0, posted.at + posted.took - head.created_at) / 1_000);
    const before = limit(monitor);
    const overloaded = outcome.kind === 'failed' && outcome.overloaded;
    const after = overloaded ? Math.max(1, Math.floor(before / 2)) : before + 1;
    if (after >= concurrency) limits.delete(monitor);
    else limits.set(monitor, after);
  }

  const run: RunDeps = {
    db: store.db,
    store,
    transportTo: (monitor) => deps.ownTransport?.(monitor) ?? { http: deps.http, url: monitor.url },
    now,
    random,
    log,
    ledger: createLedger({ ...deps, onWritten: () => wakeUp.ring(MAIL_QUEUE) }),
    bodies: createBodies(deps),
    slots: createSlots(POSTS),
    looks: createSlots(LOOKS),
    schedule: deps.schedule ?? SCHEDULE,
    limit,
    observe,
    lost(monitor) {
      metrics.leaseLost.inc();
      log.warn(
        { queue: DELIVER_QUEUE, monitor },
        'this process froze for longer than its lease: another process delivers to the monitor',
      );
    },
  };

  async function runOne(claim: Claim, monitors: Awaited<ReturnType<typeof loadMonitors>>, signal: AbortSignal) {
    const monitor = monitors.get(claim.key);
    // Created after `leaves` was asked.
    if (monitor !== undefined && isOwnJob(monitor) && deps.ownTransport?.(monitor) === undefined)
      return store.write((tx) => settle(tx, claim, { kind: 'again', at: now(), free: true }));
    if (monitor?.enabled === true && monitor.url !== null) return runLane(run, claim, monitor, signal);
    await run.ledger.write({ claim, ending: 'over' });
  }

  return startWorker({
    store,
    wakeUp,
    queue: DELIVER_QUEUE,
    batch: BATCH,
    concurrency: RUNS,
    now,
    log,
    leaseMs: deps.leaseMs,
    pollMs: deps.pollMs,
    leaves: async () => (deps.ownTransport?.({ owner: OWN_CONNECTOR }) === undefined ? ownJobIds(store.db) : []),
    async run(claims, signal) {
      const ids = claims.map(({ key }) => key);
      const monitors = await loadMonitors(store.db, secrets, ids);
      const ended = await Promise.allSettled(claims.map((claim) => runOne(claim, monitors, signal)));
      const failures = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
      if (failures.length > 0)
        throw new Error(`${failures.length} of ${claims.length} runs failed`, { cause: failures[0] });
      signal.throwIfAborted();
    },
  });
}
