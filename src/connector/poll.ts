/** Polls: tasks that ask a CRM something again and again; one lane for each connection and task. */

import { ProviderError } from '../../providers/provider.ts';
import { type Claim, mark, type Settlement, settle } from '../runtime/lanes/lanes.ts';
import type { Tx } from '../store/open.ts';
import type { Crm } from './crm/crm.ts';
import { later, settleFault } from './crm/settle.ts';
import { CHANGES } from './heal/changes.ts';
import { UpstreamError } from './monitoring/upstream.ts';
import { POLL_QUEUE, type PollDeps, type Polled, type PollTask, pollKey } from './poll/poll-task.ts';
import { SCHEMA } from './poll/schema-poll.ts';
import { ReconcileTakenOverError } from './reconcile/context.ts';
import { RECONCILE, reconcileTask } from './reconcile/task.ts';

/** The tasks by the name that their lanes carry. */
export type PollTasks = Readonly<Record<string, PollTask>>;

/** Every connection's tasks. */
const POLL_TASKS: PollTasks = { changes: CHANGES, [RECONCILE]: reconcileTask, schema: SCHEMA };

/**
 * Makes sure that every task a connection runs has its lane. One that waits keeps its time, unless the time between two
 * runs has become shorter; a parked task is tried again.
 */
export async function seedPolls(
  tx: Tx,
  crms: readonly Crm[],
  now: number,
  tasks: PollTasks = POLL_TASKS,
): Promise<void> {
  for (const crm of crms)
    for (const [name, task] of Object.entries(tasks)) {
      const every = task.everyMs(crm);
      if (every !== undefined) await seed(tx, pollKey(crm.name, name), now, task.first === 'now' ? now : now + every);
    }
}

async function seed(tx: Tx, key: string, now: number, first: number): Promise<void> {
  const lane = await tx
    .selectFrom('lane')
    .select('parked_at')
    .where('queue', '=', POLL_QUEUE)
    .where('key', '=', key)
    .executeTakeFirst();
  // A mark makes a lane that waits due no later than this, and un-parks it.
  await mark(tx, POLL_QUEUE, [key], lane?.parked_at == null ? first : now);
}

/** The connections to poll, and with which tasks. */
export interface PollTargets {
  readonly crms: readonly Crm[];
  /** All of ours where absent. */
  readonly tasks?: PollTasks;
}

/** Runs the tasks that the claims name. A connection or a task that is no longer there ends. */
export async function runPolls(
  deps: PollDeps,
  { crms, tasks = POLL_TASKS }: PollTargets,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  for (const claim of claims) {
    const settlement = await run(deps, { crms, tasks }, claim, signal);
    await deps.store.write((tx) => settle(tx, claim, settlement));
    deps.metrics.attempts.inc({ queue: POLL_QUEUE, result: settlement.kind });
  }
}

async function run(
  deps: PollDeps,
  { crms, tasks = POLL_TASKS }: PollTargets,
  claim: Claim,
  signal: AbortSignal,
): Promise<Settlement> {
  const [provider = '', name = ''] = claim.key.split(' ');
  const crm = crms.find((one) => one.name === provider);
  const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined;
  const every = crm === undefined ? undefined : task?.everyMs(crm);
  if (crm === undefined || task === undefined || every === undefined) return { kind: 'done' };
  try {
    return settlementOf(await task.run(deps, crm, claim, signal), deps.now(), every);
  } catch (error) {
    signal.throwIfAborted();
    // Whoever took over settles it: what this process says has no effect.
    if (error instanceof ReconcileTakenOverError) return { kind: 'done' };
    const settlement = await settlementOfFault(error, crm, claim, deps.now());
    deps.log.warn({ provider, task: name, err: error }, 'could not poll the CRM: trying again later');
    return settlement;
  }
}

/** What the result of a poll makes of its lane. */
function settlementOf(polled: Polled, now: number, every: number): Settlement {
  switch (polled.kind) {
    case 'done':
      return { kind: 'again', at: now + every, fresh: true };
    case 'again':
      return { kind: 'again', at: polled.at, fresh: true };
    case 'person':
      return { kind: 'parked', at: now, error: polled.reason };
  }
}

/** A CRM may refuse a poll and still accept a sync: a refusal parks only the lane and does not pause the account. */
async function settlementOfFault(error: unknown, crm: Crm, claim: Claim, now: number): Promise<Settlement> {
  if (error instanceof UpstreamError)
    return error.fault === 'refused'
      ? { kind: 'parked', at: now, error: error.message }
      : later(claim, now, error.message);
  if (error instanceof ProviderError && error.fault === 'refused')
    return { kind: 'parked', at: now, error: error.message };
  return (await settleFault(error, crm.rateLimiter, now)).of(claim);
}
