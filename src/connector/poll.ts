/** Runs poll tasks, which ask a CRM again and again; one lane for each connection and task. */

import { ProviderError } from '../../providers/provider.ts';
import { type Claim, mark, type Settlement, settle } from '../runtime/lanes/lanes.ts';
import type { Tx } from '../store/store.ts';
import type { Crm } from './crm/crm.ts';
import { later, settleFault } from './crm/settle.ts';
import { CHANGES } from './heal/changes.ts';
import { readLeft } from './links/left.ts';
import { UpstreamError } from './monitoring/upstream.ts';
import { POLL_QUEUE, type PollDeps, type Polled, type PollTask, pollKey } from './poll/poll-task.ts';
import { SCHEMA } from './poll/schema-poll.ts';
import { ReconcileTakenOverError } from './reconcile/context.ts';
import { RECONCILE, reconcileTask } from './reconcile/task.ts';

export type PollTasks = Readonly<Record<string, PollTask>>;

const POLL_TASKS: PollTasks = { changes: CHANGES, [RECONCILE]: reconcileTask, schema: SCHEMA };

/**
 * Creates the lanes of all tasks. A waiting lane keeps its time, unless the interval became shorter; a parked task is
 * retried.
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
  // A mark makes a waiting lane due no later than this, and un-parks a parked one.
  await mark(tx, POLL_QUEUE, [key], lane?.parked_at == null ? first : now);
}

export interface PollTargets {
  readonly crms: readonly Crm[];
  readonly tasks?: PollTasks;
}

/** The lane of a missing connection or task ends. */
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
  if ((await readLeft(deps.store.db, provider)) !== undefined)
    return { kind: 'again', at: deps.now() + every, fresh: true };
  try {
    return settlementOf(await task.run(deps, crm, claim, signal), deps.now(), every);
  } catch (error) {
    signal.throwIfAborted();
    // The process that took over settles the lane.
    if (error instanceof ReconcileTakenOverError) return { kind: 'done' };
    const settlement = await settlementOfFault(error, crm, claim, deps.now());
    deps.log.warn({ provider, task: name, err: error }, 'could not poll the CRM: trying again later');
    return settlement;
  }
}

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

/** A CRM may refuse a poll and still accept a sync, so a refusal parks this lane and does not pause the account. */
async function settlementOfFault(error: unknown, crm: Crm, claim: Claim, now: number): Promise<Settlement> {
  if (error instanceof UpstreamError)
    return error.fault === 'refused'
      ? { kind: 'parked', at: now, error: error.message }
      : later(claim, now, error.message);
  if (error instanceof ProviderError && error.fault === 'refused')
    return { kind: 'parked', at: now, error: error.message };
  return (await settleFault(error, crm.rateLimiter, now)).of(claim);
}
