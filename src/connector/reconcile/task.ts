/** The daemon's reconcile: compares at intervals, and repairs what is certain. */

import { healQueue, MONITORING_QUEUE } from '../names/queues.ts';
import type { PollTask } from '../poll/poll-task.ts';
import type { ReconcileContext } from './context.ts';
import { DIFFERENCES, KINDS } from './differences.ts';
import { forgetLists } from './records.ts';
import { repairAll, repairResult } from './repair.ts';
import { rememberSizes, survey } from './survey.ts';

export const RECONCILE = 'reconcile';

const MANDATE = { person: false, implausible: false };

export const reconcileTask: PollTask = {
  everyMs: ({ reconcileHours }) => (reconcileHours === 0 ? undefined : reconcileHours * 3_600_000),
  first: 'later',
  async run({ store, log, now, wakeUp, upstream }, crm, claim, signal) {
    const context: ReconcileContext = { store, crm, upstream: await upstream(), now, claim };
    const found = await survey(context, signal);
    const { counts, refused } = await repairAll(context, found, MANDATE, signal);
    if (found.doubts.length === 0) await rememberSizes(context, found);
    await forgetLists(context);
    for (const queue of [healQueue(crm.name), MONITORING_QUEUE]) wakeUp.ring(queue);
    const left = Object.fromEntries(
      KINDS.filter((kind) => found.counts[kind] > 0 && repairResult(kind, found, MANDATE) !== 'repaired').map(
        (kind) => [DIFFERENCES[kind].about, found.counts[kind]],
      ),
    );
    const { records, links, items } = found;
    const differences = { provider: crm.name, records, links, items, repaired: counts, left, refused: refused.length };
    if (Object.keys(left).length === 0) log.info(differences, 'the links agree with the CRM and the service');
    else log.warn(differences, `some differences need a person: see cvrsync reconcile ${crm.name} --dry-run`);
    if (found.doubts.length === 0) return { kind: 'done' };
    const reasons = found.doubts.map(({ reason }) => reason).join('; ');
    return {
      kind: 'person',
      reason: `${reasons}: nothing was concluded from that. See cvrsync reconcile ${crm.name} --dry-run; if the lists are right, cvrsync reconcile ${crm.name} --allow-shrink; retry compares again`,
    };
  },
};
