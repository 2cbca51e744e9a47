/** Follows runs until their stage is over. If no daemon works on such runs, this process carries them out. */

import { readOutages, shownOutage } from '../../http/outbound/outage.ts';
import { cancelRun } from '../../operations/installation/runs.ts';
import { type Daemon, readDaemons } from '../../runtime/daemons.ts';
import { isDue } from '../../runtime/lanes/lane-state.ts';
import { readBlocks } from '../../runtime/limits/blocks.ts';
import { pause } from '../../runtime/limits/pause.ts';
import { startRunWorker } from '../../runtime/runs/run-worker.ts';
import { findRun, type StoredRun } from '../../runtime/runs/runs.ts';
import type { TaskWork } from '../../runtime/runs/work.ts';
import { createWakeUp } from '../../runtime/wake-up.ts';
import type { Store } from '../../store/store.ts';
import type { CommandContext } from '../cli/context.ts';
import { showWaiting } from '../cli/waiting.ts';
import { performHere } from '../operations/operation-command.ts';

/** Often at first, because many runs are short. */
const FIRST_LOOK_MS = 10;
const LOOK_MS = 200;
const LOG_EVERY_MS = 5_000;
/** Workers look once a second, so a run that waits for longer has none. */
const IDLE_MS = 3_000;

interface RunCarrier {
  /** Whether this daemon works on such runs. */
  readonly works: (daemon: Pick<Daemon, 'roles' | 'digests'>) => boolean;
  /** Does the work while this process has workers for such runs. */
  readonly withWorkers: <T>(id: number, work: () => Promise<T>) => Promise<T>;
  /** What such a run does, for the log. */
  readonly about: string;
  /** The connections that it calls. The command reports why a daemon waits for them. */
  readonly accounts?: readonly string[];
  /** Shows the progress of a run, in place of log lines. `here`: this process carries it out. */
  readonly show?: (run: StoredRun<unknown>, by: 'here' | 'daemon') => Promise<void>;
  /** Whether a preview is useful by itself: it then continues after the command is stopped. */
  readonly keepsPreviews?: boolean;
}

/** Whether a daemon works on runs of the connector. */
export const syncs: RunCarrier['works'] = ({ roles, digests }) =>
  roles.includes('sync') && digests['connector'] !== undefined;

export const isOpen = ({ state }: Pick<StoredRun<unknown>, 'state'>): boolean =>
  state === 'waiting' || state === 'running';

/** Waits for the stage of a run to end, and returns the run. */
export type CarryOut = (id: number) => Promise<StoredRun<unknown>>;

/** The last lines about a run that is not over; `again`: the command that continues it. */
export const openLines = ({ id }: Pick<StoredRun<unknown>, 'id'>, again: string): readonly string[] => [
  `Run ${id} is not over: a daemon continues it, or this command does: ${again}`,
  `To see it: cvrsync runs show ${id}. To stop it: cvrsync runs cancel ${id}`,
];

/**
 * Makes what carries out runs. It returns early if the command is stopped; a preview that only this command waits for
 * then ends. Once no daemon has worked on a run, this process carries out that run and later ones.
 */
export function runCarrier(context: CommandContext, store: Store, carrier: RunCarrier): CarryOut {
  const { works, withWorkers, about, accounts = [], show, keepsPreviews = false } = carrier;
  let isAlone = false;
  return async (id) => {
    const followed = (idleMs: number) =>
      follow(store, {
        ...{ id, idleMs, signal: context.signal },
        report:
          show === undefined
            ? // This process reports its own waits.
              reporter(context, store, { about, accounts: isAlone ? [] : accounts })
            : (run) => show(run, isAlone ? 'here' : 'daemon'),
      });
    isAlone ||= !(await readDaemons(store.db, Date.now())).some(works);
    try {
      isAlone ||= !(await followed(IDLE_MS));
      if (isAlone) await withWorkers(id, () => followed(Number.POSITIVE_INFINITY));
    } finally {
      const run = await needRun(store, id);
      if (run.stage === 'preview' && isOpen(run) && !keepsPreviews)
        await performHere(cancelRun, { run: id }, { store, now: Date.now });
    }
    return needRun(store, id);
  };
}

async function needRun({ db }: Store, id: number): Promise<StoredRun<unknown>> {
  const run = await findRun(db, id);
  if (run === undefined) throw new Error(`run ${id} was deleted`);
  return run;
}

interface Followed {
  readonly id: number;
  readonly signal: AbortSignal;
  readonly report: (run: StoredRun<unknown>) => Promise<void>;
  /** Returns once nobody has worked on the run for this long. */
  readonly idleMs: number;
}

/** Whether the stage is over, or the command is stopped. */
async function follow(store: Store, { id, signal, report, idleMs }: Followed): Promise<boolean> {
  let busyAt = Date.now();
  for (let wait = FIRST_LOOK_MS; ; wait = Math.min(LOOK_MS, wait * 1.5)) {
    const run = await needRun(store, id);
    if (!isOpen(run) || signal.aborted) return true;
    if (!(await isDue(store.db, run.task, String(id), Date.now()))) busyAt = Date.now();
    if (Date.now() - busyAt >= idleMs) return false;
    await report(run);
    await pause(wait, signal);
  }
}

/** Reports the progress of a run, and once the reason of its wait. */
function reporter(
  context: CommandContext,
  store: Store,
  { about, accounts }: Required<Pick<RunCarrier, 'about' | 'accounts'>>,
) {
  const told = new Set<string>();
  let loggedAt = Date.now();
  return async ({ done, total, stage }: StoredRun<unknown>): Promise<void> => {
    for (const trouble of await troubleOf(store, accounts)) {
      if (!told.has(trouble)) showWaiting(context)({ trouble });
      told.add(trouble);
    }
    if (Date.now() - loggedAt < LOG_EVERY_MS) return;
    loggedAt = Date.now();
    context.log.info({ done, total }, stage === 'preview' ? 'finding out what it would do' : about);
  };
}

/** Why calls to these connections wait. */
export async function troubleOf({ db }: Store, accounts: readonly string[]): Promise<readonly string[]> {
  if (accounts.length === 0) return [];
  const outages = (await readOutages(db, Date.now())).filter(({ account }) => accounts.includes(account));
  const blocks = (await readBlocks(db, Date.now())).filter(({ account }) => accounts.includes(account));
  return [
    ...outages.map(shownOutage),
    ...blocks.map(({ account, reason }) => `${account} is not called now: ${reason ?? 'no reason stored'}`),
  ];
}

/** If this process is killed, another one continues after this time. */
const LEASE_MS = 30_000;
/** A stop must take less than 25 s. */
const GRACE_MS = 20_000;

/** Works on one run of a task. */
export async function withRunWorker<I, T>(
  { log }: CommandContext,
  store: Store,
  { id, work }: { readonly id: number; readonly work: TaskWork<I> },
  during: () => Promise<T>,
): Promise<T> {
  const common = { store, now: Date.now, leaseMs: LEASE_MS, log, wakeUp: createWakeUp() };
  const worker = startRunWorker({ ...common, only: id }, work);
  try {
    return await during();
  } finally {
    // The run is over, or the command is stopped: the worker ends after the calls that have begun.
    await worker.stop(0);
    await worker.stop(GRACE_MS);
  }
}
