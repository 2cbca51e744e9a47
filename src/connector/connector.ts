/** Starts and stops the connector: its connections, its intake and its workers. */
import { watchOutages } from '../http/outbound/outage.ts';
import { counts } from '../runtime/lanes/lanes.ts';
import type { StrayError } from '../runtime/stray-error.ts';
import { createWakeUp } from '../runtime/wake-up.ts';
import type { Worker } from '../runtime/worker.ts';
import type { Store } from '../store/store.ts';
import { type Crm, openCrm } from './crm/crm.ts';
import { isSafetyLimitOn } from './follow/safety-limit.ts';
import { hasArrivals } from './intake/arrivals.ts';
import { createIntake, type Intake } from './intake/intake.ts';
import { editsQueue } from './names/queues.ts';
import { POLL_QUEUE } from './poll/poll-task.ts';
import { watchRules } from './proposals/watch.ts';
import { acceptAtStart } from './rules/accepted.ts';
import type { ConnectorDeps, ConnectorSettings } from './settings.ts';
import { NO_WORKERS, startSyncing } from './workers.ts';

export interface Connector {
  readonly intake: Intake;
  readonly crms: readonly Crm[];
  readonly hasUpstream: boolean;
  wake(): void;
  /** Accepts what of a file's rules makes cvrsync write less, and proposes the others. */
  propose(file: ConnectorSettings['providers']): Promise<void>;
  /** Looks at once at rules that were accepted or proposed. */
  lookAtRules(): void;
  /**
   * Resolves when changed rules were compared once, and no queue has due work but housekeeping, polls and checks of
   * edits.
   */
  drained(): Promise<void>;
  /** Stops intake, finishes running work within `graceMs`, and releases the rest. */
  stop(graceMs: number, stray?: StrayError): Promise<void>;
  measure(): Promise<void>;
}

export async function startConnector(deps: ConnectorDeps, settings: ConnectorSettings): Promise<Connector> {
  const { store, metrics, log, now } = deps;
  const { wire, limits, ingest = true, sync = true } = settings;
  const wakeUp = createWakeUp();
  const outages = watchOutages(deps);
  const crms = await Promise.all(
    settings.providers.map((config) => openCrm({ ...deps, http: outages.watch(config.name, deps.http) }, config)),
  );
  const intake = createIntake({ store, wakeUp, now, metrics, log, ...wire, backlogCap: limits.backlogCap });
  const workers = sync ? await startSyncing(deps, settings, { crms, intake, wakeUp, outages }) : NO_WORKERS;
  const rules = watchRules({ ...deps, wakeUp }, { crms, configured: settings.providers, counts: sync });
  if (ingest) intake.start();

  return {
    intake,
    crms,
    hasUpstream: settings.upstream !== undefined,
    wake: wakeUp.ringAll,
    async propose(file) {
      // What runs and is no longer in the file goes on until that is accepted.
      const running = settings.providers.map((each) => file.find(({ name }) => name === each.name) ?? each);
      if (sync) await store.write((tx) => acceptAtStart(tx, running, { daemon: deps.daemon, now: now() }));
      await rules.propose(file);
      wakeUp.ringAll();
    },
    lookAtRules: rules.look,
    async drained() {
      await rules.checked;
      await drain([...workers.awaited, ...workers.resumable], store, now);
    },
    async stop(graceMs, stray) {
      await Promise.all([intake.stop(), rules.stop()]);
      await Promise.all([
        ...[...workers.restartable, ...workers.resumable].map((worker) => worker.stop(0, stray)),
        ...[...workers.awaited, ...workers.timed].map((worker) => worker.stop(graceMs, stray)),
      ]);
    },
    measure: () => measure(deps, crms),
  };
}

/** Each queue may feed the next, so this repeats until no queue has due work. */
async function drain(workers: readonly Worker[], store: Store, now: () => number): Promise<void> {
  for (;;) {
    for (const worker of workers) await worker.drained();
    // Read before the lanes: an arrival becomes a lane, and in the other order both could be missed.
    const arrives = await hasArrivals(store.db);
    const left = (await counts(store.db, now())).filter(
      ({ queue, ready, leased }) => !isTimed(queue) && ready + leased > 0,
    );
    if (left.length === 0 && !arrives) return;
  }
}

const isTimed = (queue: string): boolean =>
  queue === 'housekeeping' || queue === POLL_QUEUE || queue.startsWith(editsQueue(''));

async function measure({ metrics, store }: ConnectorDeps, crms: readonly Crm[]): Promise<void> {
  for (const crm of crms) {
    metrics.accountPaused.set({ provider: crm.name }, (await crm.rateLimiter.blockedUntil()) === undefined ? 0 : 1);
    metrics.linkEndsStopped.set({ provider: crm.name }, (await isSafetyLimitOn(store.db, crm.name)) ? 1 : 0);
    // Without a zero first, Prometheus sees no increase.
    metrics.linksEnded.inc({ provider: crm.name }, 0);
  }
}
