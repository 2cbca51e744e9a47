/**
 * Pending writes to records: what they are to replace is on disk before they leave, so that one that arrives although
 * nobody heard of it is recognised as ours, told in history, and can be taken back.
 */
import { ProviderError } from '../../../providers/provider.ts';
import { type Claim, held } from '../../runtime/lanes/lanes.ts';
import type { Lease } from '../../runtime/lanes/lease.ts';
import {
  beginWrites,
  type EndedWrite,
  endWrites,
  isShown,
  nameOf,
  type PendingWrite,
  pendingUnder,
} from '../../runtime/lanes/pending-writes.ts';
import type { Store, Tx } from '../../store/open.ts';
import type { Crm } from '../crm/crm.ts';
import { ARRIVED, type Late, type PendingLine, type PendingPatch, type Planned, RETURNED } from '../decide/planned.ts';
import { markWritten } from '../edits/due.ts';
import { type Decided, writeHistory } from '../history/history.ts';
import { rememberWritten } from '../history/written.ts';
import type { Written } from '../write/write.ts';
import type { LinkedRecord } from './load.ts';

/** A record and what was decided for its properties. */
export interface Plan {
  readonly record: LinkedRecord;
  readonly planned: readonly Planned[];
}

/** A connection whose records are written to. */
type WrittenCrm = Pick<Crm, 'name' | 'connection'>;

export interface BeginPatches {
  readonly crm: WrittenCrm;
  readonly claims: readonly Claim[];
  /** When the read that the plans follow from was begun, in ms since 1970. */
  readonly readFrom: number;
  readonly now: number;
}

/**
 * Before a batch is written: says on disk what is about to be sent, tells history of earlier writes that turn out to
 * have arrived, and forgets those that can show no more. Returns what was begun; a record that is missing there belongs
 * to another process by now.
 */
export async function beginPatches(
  store: Store,
  plans: readonly Plan[],
  { crm, claims, readFrom, now }: BeginPatches,
): Promise<readonly PendingWrite[]> {
  const shownOf = ({ pending }: LinkedRecord) => pending.filter((write) => isShown(write, readFrom));
  // What an edit comes back from is told once it is back: until then each read has to recognise it.
  const isTold = ({ rule }: Planned) => rule !== RETURNED;
  const some = plans.filter(
    ({ record, planned }) =>
      planned.some((each) => each.late !== undefined || isWrite(each)) || shownOf(record).length > 0,
  );
  if (some.length === 0) return [];
  const claimOf = new Map(claims.map((claim) => [claim.key, claim]));
  return store.write(async (tx) => {
    const ours = await held(tx, claims);
    const live = some.filter(({ record }) => ours.has(record.id));
    await settleLate(
      tx,
      crm,
      live.map(({ record, planned }) => ({ record, planned: planned.filter(isTold) })),
      now,
    );
    await endWrites(
      tx,
      live.flatMap(({ record, planned }) => (planned.every(isTold) ? shownOf(record) : [])),
    );
    const begun = live.flatMap(({ record, planned }): PendingWrite[] => {
      const claim = claimOf.get(record.id);
      const patch = patchOf(planned);
      return claim === undefined || patch === undefined ? [] : [pendingUnder(claim, now, patch)];
    });
    await beginWrites(tx, begun);
    return begun;
  });
}

/** How a write that was begun under a lease ended. Where the CRM said nothing of one record, nobody knows. */
export function endOf(written: Written | undefined, { isUnsent }: Lease): EndedWrite['end'] {
  const outcome = written?.outcome;
  if (isUnsent || outcome === undefined || outcome.kind === 'stale') return 'unsent';
  if (outcome.kind === 'retry') return 'unanswered';
  if (outcome.kind !== 'fault') return 'answered';
  if (outcome.unsent === true) return 'unsent';
  // Any other fault says that the CRM did nothing.
  const isSilent = !(outcome.error instanceof ProviderError) || outcome.error.fault === 'unavailable';
  return isSilent ? 'unanswered' : 'answered';
}

const isWrite = ({ action }: Planned): boolean => action === 'write';

/** What of a patch is to be known for ours later; a person's edit that comes back is not. */
function patchOf(planned: readonly Planned[]): PendingPatch | undefined {
  const writes = planned.filter(isWrite);
  if (writes.length === 0) return undefined;
  const ours = writes.filter(({ rule }) => rule !== RETURNED);
  return ours.map(({ property, field, old, now, seq }): PendingLine => [property, field, old, now, seq]);
}

/**
 * Records the writes that arrived late, each once, and what they wrote as ours. Their answers showed nothing, so that the
 * CRM's history is asked whether they replaced an edit.
 */
export async function settleLate(
  tx: Tx,
  { name: provider, connection }: WrittenCrm,
  plans: readonly Plan[],
  now: number,
): Promise<void> {
  const seen = plans.flatMap(({ record, planned }) =>
    planned.flatMap((each) => (each.late === undefined ? [] : [{ record, property: each.property, late: each.late }])),
  );
  const known = await endWrites(
    tx,
    seen.map(({ late }) => late.from),
  );
  const late = seen.filter((each) => known.has(nameOf(each.late.from)));
  if (late.length === 0) return;
  await writeHistory(
    tx,
    late.map((each): Decided => lateRow(provider, each.record, each.property, each.late)),
    [],
    now,
  );
  await rememberWritten(
    tx,
    provider,
    late.map(({ record, property, late: { now: value, stored } }) => ({
      ...{ id: record.id, property, value, at: now },
      ...(stored !== undefined && { stored }),
    })),
  );
  if (connection.edits === undefined) return;
  const written = late.map(({ record: { id }, late: { from } }) => ({ id, window: { from: from.at, to: now } }));
  await markWritten(tx, provider, written, now);
}

const lateRow = (provider: string, { id, entity }: LinkedRecord, property: string, late: Late): Decided => ({
  provider,
  id,
  entity,
  planned: {
    field: late.field,
    property,
    action: 'write',
    rule: ARRIVED,
    old: late.old,
    now: late.now,
    seq: late.seq,
    detail: late.overtook
      ? 'a process that had frozen sent this after a newer value was written'
      : 'the answer to this write was lost, and it had reached the CRM',
  },
  ...(late.stored !== undefined && { stored: late.stored }),
});
