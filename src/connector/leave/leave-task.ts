/** Leaving a CRM as a run: what it ends, undoes and removes, and the result for each. */

import { mark } from '../../runtime/lanes/lanes.ts';
import { deleteItems, type RunItem } from '../../runtime/runs/run-items.ts';
import { listOpenRuns, RunRefused, type RunTask, type StoredRun } from '../../runtime/runs/runs.ts';
import type { Db, Tx } from '../../store/store.ts';
import { markLeft, readLeft } from '../links/left.ts';
import { editsQueue, healQueue, matchQueue, noteQueue, parentQueue } from '../names/queues.ts';
import { POLL_QUEUE, pollKey } from '../poll/poll-task.ts';
import { endProposal } from '../rules/accepted.ts';

export interface LeaveRequest {
  readonly provider: string;
  /** Whether what cvrsync wrote is undone, by the rules of every undo. */
  readonly undo: boolean;
  /** Whether properties that cvrsync created are removed, unless they hold what others wrote. */
  readonly removeProperties: boolean;
}

/**
 * The result for a link or a property, besides those of undo. Of a preview: `link` would end, `property` would be
 * removed. `unconfirmed`: the service has not confirmed the end of the monitoring. `in-use`: a property stays because it
 * holds values of others. `by-hand`: a person has to remove it in the CRM.
 */
export const LEAVE_RESULTS = [
  'link',
  'ended',
  'unconfirmed',
  'property',
  'removed',
  'absent',
  'in-use',
  'by-hand',
] as const;
export type LeaveResult = (typeof LEAVE_RESULTS)[number];

export const LEAVE: RunTask<LeaveRequest> = {
  queue: 'leave',
  counts: 'records',
  role: 'admin',
  fine: ['link', 'ended', 'restored', 'nothing', 'undone', 'property', 'removed', 'absent'],
  audit: ({ id, input: { provider, ...detail } }) => ({
    action: 'connection.leave',
    subject: provider,
    detail: { run: id, ...detail },
  }),
  confirm,
};

export type LeaveJob = StoredRun<LeaveRequest>;

/** Leaves the connection in the transaction of the person's yes: what is not done then is done later. */
async function confirm(tx: Tx, { id, input: { provider }, actor }: LeaveJob, now: number): Promise<void> {
  const other = (await listOpenRuns(tx, LEAVE)).find((run) => run.id !== id && isLeaving(run, provider));
  if (other !== undefined) throw new RunRefused(`run ${other.id} is leaving ${provider} already`);
  if ((await readLeft(tx, provider)) === undefined) await markLeft(tx, provider, { at: now, by: actor.name, run: id });
  await endProposal(tx, provider);
  await endFailedWork(tx, provider, now);
  // Its results take the place of the preview's.
  await deleteItems(tx, id);
}

const isLeaving = ({ stage, input }: LeaveJob, provider: string): boolean =>
  stage === 'run' && input.provider === provider;

/** The run of a connection that waits or is under way. */
export const readOpenLeave = async (db: Db, provider: string): Promise<LeaveJob | undefined> =>
  (await listOpenRuns(db, LEAVE)).find(({ input }) => input.provider === provider);

/** Ends work on the connection's records that waits for a person. The rest ends by itself, as soon as a daemon takes it. */
export async function endFailedWork(tx: Tx, provider: string, now: number): Promise<void> {
  const queues = [healQueue, matchQueue, noteQueue, parentQueue, editsQueue].map((queueOf) => queueOf(provider));
  await tx
    .deleteFrom('lane')
    .where('queue', 'in', [`sync:${provider}`, ...queues])
    .where('parked_at', 'is not', null)
    .execute();
  const polls = await tx
    .selectFrom('lane')
    .select('key')
    .where('queue', '=', POLL_QUEUE)
    .where('key', 'like', pollKey(provider, '%'))
    .where('parked_at', 'is not', null)
    .execute();
  // They wait, and poll again once a person returns.
  const keys = polls.map(({ key }) => key);
  if (keys.length > 0) await mark(tx, POLL_QUEUE, keys, now);
}

export interface LeaveItem {
  readonly kind: LeaveResult;
  readonly provider: string;
  readonly record?: string | undefined;
  readonly entity?: string | undefined;
  readonly property?: string | undefined;
  readonly reason?: string | undefined;
  /** Values in the property that cvrsync wrote, and others. */
  readonly ours?: number | undefined;
  readonly others?: number | undefined;
}

/** The keys of undone properties are lists of three. */
export const itemOf = ({ kind, ...facts }: LeaveItem): RunItem => ({
  key: JSON.stringify(
    facts.record === undefined ? [facts.provider, facts.property, '', ''] : [facts.provider, facts.record],
  ),
  kind,
  detail: JSON.stringify(facts),
});
