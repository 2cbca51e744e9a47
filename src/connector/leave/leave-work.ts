/**
 * Leaves a connection in the daemon. Each step looks at what is left of it in the store and in the CRM, so a run that was
 * killed goes on where it was.
 */
import { endBlock } from '../../runtime/limits/blocks.ts';
import { countItems, type RunItem, storeItems } from '../../runtime/runs/run-items.ts';
import type { RunFollower, TaskWork } from '../../runtime/runs/work.ts';
import type { Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { forgetMade } from '../crm/made-properties.ts';
import { patiently } from '../crm/patience.ts';
import {
  countUnconfirmedEnds,
  endOpenLinks,
  LINK_PAGE,
  listUnconfirmedEnds,
  type PagedLink,
  pageOpenLinks,
} from '../links/end-all.ts';
import { MONITORING_QUEUE } from '../names/queues.ts';
import type { UndoDeps } from '../undo/undo.ts';
import { crmsByName } from '../undo/undo-run.ts';
import { undoInRun } from '../undo/undo-task.ts';
import { endFailedWork, itemOf, LEAVE, type LeaveItem, type LeaveJob, type LeaveRequest } from './leave-task.ts';
import { decideMade, madeIn } from './made.ts';

export interface LeaveDeps extends UndoDeps {
  readonly crms: readonly Crm[];
  /** Whether a monitoring service is configured, which confirms the end of each monitoring. */
  readonly hasUpstream: boolean;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How long no confirmation may come before the run ends, in ms; two minutes if absent. */
  readonly silenceMs?: number | undefined;
  /** Has the worker of a queue look at once. */
  readonly ring: (queue: string) => void;
}

/** Interval of looks whether the service has confirmed the ends. */
const LOOK_MS = 500;
const SILENCE_MS = 2 * 60_000;

/** How the daemon leaves a CRM. */
export const leaveWork = (deps: LeaveDeps): TaskWork<LeaveRequest> => ({
  task: LEAVE,
  async work(run, follower) {
    const before = run.stage === 'run' ? ((await countItems(deps.store.db, run.id)).get('ended') ?? 0) : 0;
    const tally = openTally(run, follower, before);
    await (run.stage === 'preview' ? preview(deps, run, tally) : carryOut(deps, run, tally));
  },
});

async function preview(deps: LeaveDeps, run: LeaveJob, tally: Tally): Promise<void> {
  const { store } = deps;
  const { provider, undo, removeProperties } = run.input;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const links: readonly PagedLink[] = await pageOpenLinks(store.db, provider, after);
    await tally.add(links.length, (tx) => storeItems(tx, run.id, linkItems(provider, links, 'link')));
    after = links.length < LINK_PAGE ? undefined : links.at(-1)?.record_id;
  }
  if (undo) await undoWrites(deps, run, tally);
  if (removeProperties) {
    const decided = await decideMade(lookedAt(deps, tally), crmOf(deps, provider), tally.signal);
    await tally.add(decided.length, (tx) => storeItems(tx, run.id, decided.map(itemOf)));
  }
  await tally.end();
}

async function carryOut(deps: LeaveDeps, run: LeaveJob, tally: Tally): Promise<void> {
  const { provider, undo, removeProperties } = run.input;
  await endLinks(deps, run, tally);
  if (undo) await undoWrites(deps, run, tally);
  if (removeProperties) await removeMade(deps, run, tally);
  await confirmEnds(deps, run, tally);
  await deps.store.write(async (tx) => {
    await endFailedWork(tx, provider, deps.now());
    // Nobody has to mend what is not called any more.
    await endBlock(tx, provider, deps.now());
  });
}

/** The progress of a run, over all its steps. */
interface Tally {
  readonly signal: AbortSignal;
  /** Counts things, and stores their results with that. Throws if the run was cancelled. */
  add(count: number, store?: (tx: Tx) => Promise<void>): Promise<void>;
  /** For a step that counts from 0 by itself, and stores what it did before it was cancelled. */
  follower(): RunFollower;
  /** What was counted is all there is. */
  end(): Promise<void>;
}

function openTally({ stage, total }: Pick<LeaveJob, 'stage' | 'total'>, run: RunFollower, before: number): Tally {
  const { signal } = run;
  let done = before;
  const progress = () => ({ done, total: stage === 'preview' || total === null ? null : Math.max(total, done) });
  return {
    signal,
    async add(count, store) {
      done += count;
      await run.step(progress(), store);
      signal.throwIfAborted();
    },
    follower() {
      const start = done;
      return {
        signal,
        step(own, store) {
          done = start + own.done;
          return run.step(progress(), store);
        },
      };
    },
    async end() {
      await run.step({ done, total: done });
      signal.throwIfAborted();
    },
  };
}

const undoWrites = (deps: LeaveDeps, run: LeaveJob, tally: Tally): Promise<void> =>
  undoInRun(
    { ...deps, crm: crmsByName(deps.crms) },
    { ...run, done: 0, total: null },
    { provider: run.input.provider },
    tally.follower(),
  );

const lookedAt = (deps: LeaveDeps, tally: Tally) => ({ ...deps, look: () => tally.add(0) });

function crmOf({ crms }: LeaveDeps, provider: string): Crm {
  const crm = crms.find(({ name }) => name === provider);
  if (crm === undefined) throw new Error(`no connection ${provider} is configured`);
  return crm;
}

const linkItems = (provider: string, links: readonly PagedLink[], kind: LeaveItem['kind']): readonly RunItem[] =>
  links.map(({ record_id: record, entity }) => itemOf({ kind, provider, record, entity }));

/** Ends the links. The worker of monitoring meanwhile makes the calls to the service. */
async function endLinks(
  { store, now, ring }: LeaveDeps,
  { id, input: { provider } }: LeaveJob,
  tally: Tally,
): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after;
    const links: readonly PagedLink[] = await pageOpenLinks(store.db, provider, from);
    await tally.add(links.length, async (tx) => {
      // As they are by now.
      const ended = await endOpenLinks(tx, provider, from, now());
      await storeItems(tx, id, linkItems(provider, ended, 'ended'));
    });
    ring(MONITORING_QUEUE);
    after = links.length < LINK_PAGE ? undefined : links.at(-1)?.record_id;
  }
}

/** Removes the properties that cvrsync created, as the CRM holds them now: one call for each. */
async function removeMade(deps: LeaveDeps, { id, input: { provider } }: LeaveJob, tally: Tally): Promise<void> {
  const crm = crmOf(deps, provider);
  const place = await madeIn(deps, crm, tally.signal);
  for (const item of await decideMade(lookedAt(deps, tally), crm, tally.signal)) {
    const removed = item.kind === 'property' ? await remove(deps, crm, item, tally.signal) : item;
    const isGone = removed !== item && removed.kind !== 'by-hand';
    await tally.add(1, async (tx) => {
      await storeItems(tx, id, [itemOf(removed)]);
      if (isGone) await forgetMade(tx, place, [item.property ?? '']);
    });
  }
  crm.forgetSchema();
}

async function remove({ now }: LeaveDeps, crm: Crm, item: LeaveItem, signal: AbortSignal): Promise<LeaveItem> {
  const { property = '' } = item;
  const [removed] = await patiently(
    { crm, now },
    async () => (await crm.connection.removeProperties?.([property], signal)) ?? [],
    signal,
  );
  if (removed?.kind === 'refused' || removed === undefined) {
    const reason = removed?.reason ?? 'the CRM gave no reason: remove it there';
    return { ...item, kind: 'by-hand', reason };
  }
  return { ...item, kind: removed.kind };
}

/**
 * Waits until the service has confirmed the end of each monitoring, as long as confirmations come. Those that do not are
 * shown; the daemon repeats the calls until they are answered.
 */
async function confirmEnds(deps: LeaveDeps, { id, input: { provider } }: LeaveJob, tally: Tally): Promise<void> {
  const { store, now, wait, hasUpstream, silenceMs = SILENCE_MS } = deps;
  if (!hasUpstream) return;
  let last = { left: Number.POSITIVE_INFINITY, at: now() };
  for (;;) {
    const { count, refused } = await countUnconfirmedEnds(store.db, provider);
    const left = count - refused;
    if (left === 0 || now() - last.at > silenceMs) break;
    if (left !== last.left) last = { left, at: now() };
    await tally.add(0);
    await wait(LOOK_MS, tally.signal);
    tally.signal.throwIfAborted();
  }
  for (let after: string | undefined = ''; after !== undefined; ) {
    const open: Awaited<ReturnType<typeof listUnconfirmedEnds>> = await listUnconfirmedEnds(store.db, provider, after);
    const items = open.map(({ record_id: record, entity, observed_error: reason }) =>
      itemOf({ kind: 'unconfirmed', provider, record, entity, reason: reason ?? UNANSWERED }),
    );
    await tally.add(0, (tx) => storeItems(tx, id, items));
    after = open.length < LINK_PAGE ? undefined : open.at(-1)?.record_id;
  }
}

const UNANSWERED = 'the monitoring service has not answered yet: the daemon repeats the call until it does';
