/** Stores events, many in one transaction, and answers each once it is on disk. */
import type { Metrics } from '../../http/metrics.ts';
import { requestIdOf } from '../../protocol/dedupe.ts';
import { type WireOptions, withoutWithheld } from '../../protocol/payload.ts';
import { createGroupCommit } from '../../runtime/group-commit.ts';
import type { WakeUp } from '../../runtime/wake-up.ts';
import { ASIDE, type Store, type Tx } from '../../store/store.ts';
import { type Arrival, type ArrivalsRead, hasArrivals, insertArrivals, readArrivals } from './arrivals.ts';
import { lackOfSpace, MIN_FREE_BYTES } from './free-space.ts';
import { countUnapplied } from './receipt.ts';

export interface IntakeOptions extends WireOptions {
  readonly store: Store;
  readonly wakeUp: WakeUp;
  readonly now: () => number;
  readonly metrics: Metrics;
  /** Most events that may wait before new ones are refused. */
  readonly backlogCap: number;
  readonly log: {
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  readonly minFreeBytes?: number;
}

export interface Intake {
  /** Resolves once the event is on disk. Rejects if this event could not be stored: its sender must send it again. */
  accept(event: Arrival): Promise<void>;
  /** The name of a webhook in the log; its event has the same. */
  requestId(webhookId: string | undefined, json: unknown): string;
  /**
   * Turns arrivals into receipts, in the transaction that will claim them. Call the returned function after the commit:
   * it counts and logs.
   */
  read(tx: Tx, now: number): Promise<() => void>;
  /** Whether there is anything to read. */
  hasArrivals(): Promise<boolean>;
  /** Undefined while events are accepted. Costs nothing. */
  refusal(): string | undefined;
  /**
   * Whether other work should wait for a burst of events, whose senders wait for answers. False once half of the
   * allowed backlog waits, because the other work reduces it.
   */
  inBurst(): boolean;
  /** Counts the backlog and reads the free disk space; throws if the store fails. */
  refresh(): Promise<void>;
  start(): void;
  /** Refuses new events, and resolves once all accepted ones are answered. */
  stop(): Promise<void>;
}

/** Measured: larger batches save nothing. */
const BATCH = 64;
/** 256 MiB in memory at the body limit of 1 MiB. */
const MOST_WAITING = 256;
const WAIT_MS = 2;
/** Events in one commit that count as a burst, and its duration. */
const BURST = 16;
const BURST_MS = 50;
const REFRESH_MS = 1_000;
const WARN_EVERY_MS = 60_000;

/** Counts the events that were read, and logs what a person should know, at most once a minute. */
function openReport({ metrics, log, now }: IntakeOptions): (read: ArrivalsRead) => void {
  const warnedAt = { reused: Number.NEGATIVE_INFINITY, refused: Number.NEGATIVE_INFINITY };
  const isTimeFor = (what: keyof typeof warnedAt): boolean => {
    if (now() - warnedAt[what] < WARN_EVERY_MS) return false;
    warnedAt[what] = now();
    return true;
  };
  return ({ repeated, reused, refused }) => {
    metrics.dedupeHits.inc(repeated);
    metrics.idsReused.inc(reused.length);
    const last = reused.at(-1);
    if (last !== undefined && isTimeFor('reused'))
      log.warn(
        { webhookId: last.webhookId, entity: last.entity },
        'a sender gave different events the same webhook-id: see cvrsync review list',
      );
    const [first] = refused;
    if (first !== undefined && isTimeFor('refused'))
      log.error(
        { err: first.error, arrival: first.seq, events: refused.length },
        'the store refuses events that were accepted: they wait, and are tried again',
      );
  };
}

export function createIntake(options: IntakeOptions): Intake {
  const { store, wakeUp, now, metrics, backlogCap, log, minFreeBytes = MIN_FREE_BYTES } = options;
  const commits = createGroupCommit({
    batchSize: BATCH,
    waitMs: WAIT_MS,
    write: storeBatch,
    onFailure: (error, batch) =>
      log.error({ err: error, events: batch.length }, 'could not store webhooks: their senders will send them again'),
  });
  let stopped = false;
  let burstAt = Number.NEGATIVE_INFINITY;
  let counted = 0;
  let stored = 0;
  const report = openReport(options);
  let freeBytes: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function storeBatch(batch: readonly Arrival[]): Promise<readonly true[]> {
    await store.write((tx) => insertArrivals(tx, batch, now()), ASIDE);
    metrics.commitBatchSize.observe(batch.length);
    if (batch.length >= BURST) burstAt = performance.now();
    stored += batch.length;
    wakeUp.ring('apply');
    return batch.map(() => true);
  }

  const backlog = (): number => counted + stored;

  async function refresh(): Promise<void> {
    const before = stored;
    const found = await countUnapplied(store.db, backlogCap + 1);
    counted = found;
    stored -= before;
    metrics.backlog.set(found);
    freeBytes = await store.freeBytes();
    if (freeBytes !== undefined) metrics.diskFreeBytes.set(freeBytes);
  }

  return {
    refresh,
    async accept(event) {
      if (stopped) throw new Error('the daemon is stopping and takes no more events');
      await commits.add(event);
    },
    requestId: (webhookId, json) => requestIdOf(webhookId, withoutWithheld(json, options)),
    async read(tx, at) {
      const read = await readArrivals(tx, options, at);
      return () => {
        report(read);
        if (read.isMore) wakeUp.ring('apply');
      };
    },
    hasArrivals: () => hasArrivals(store.db),
    inBurst: () => performance.now() - burstAt < BURST_MS && backlog() < backlogCap / 2,
    refusal() {
      if (stopped) return 'stopping';
      if (backlog() >= backlogCap) return `${backlog()} events wait to be applied, ${backlogCap} may`;
      if (commits.waiting() >= MOST_WAITING) return `${commits.waiting()} events wait to be stored`;
      return lackOfSpace(freeBytes, minFreeBytes);
    },
    start() {
      const again = async (): Promise<void> => {
        await refresh().catch((error) => log.error({ err: error }, 'could not count the backlog: trying again'));
        if (!stopped) timer = setTimeout(again, REFRESH_MS).unref();
      };
      void again();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await commits.settled();
    },
  };
}
