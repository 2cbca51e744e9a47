/**
 * Pending writes to records. The store holds them before they leave, so that a write that arrives without an answer is
 * recognised as ours, enters history, and can be undone.
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
import { ASIDE, type Store, type Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { ARRIVED, type Late, type PendingLine, type PendingPatch, type Planned, RETURNED } from '../decide/planned.ts';
import { markBlindWrites } from '../edits/due.ts';
import { type Decided, writeHistory } from '../history/history.ts';
import { rememberWritten } from '../history/written.ts';
import type { Written } from '../write/write.ts';
import { type LinkedRecord, patchIn } from './load.ts';

export interface Plan {
  readonly record: LinkedRecord;
  readonly planned: readonly Planned[];
}

type WrittenCrm = Pick<Crm, 'name' | 'connection'>;

export interface BeginPatches {
  readonly crm: WrittenCrm;
  readonly claims: readonly Claim[];
  readonly readFrom: number;
  readonly now: number;
}

/**
 * Run before a batch is written: stores what is about to be sent, adds earlier writes that turn out to have arrived to
 * history, and removes pending writes that can no longer arrive. Returns the new pending writes; a record without one
 * belongs to another process now.
 */
export async function beginPatches(
  store: Store,
  plans: readonly Plan[],
  { crm, claims, readFrom, now }: BeginPatches,
): Promise<readonly PendingWrite[]> {
  const settledWritesOf = ({ pending }: LinkedRecord) => pending.filter((write) => isShown(write, readFrom));
  // A restored edit enters history after its return: until then each read must recognise it.
  const entersHistory = ({ rule }: Planned) => rule !== RETURNED;
  const some = plans.filter(
    ({ record, planned }) =>
      planned.some((each) => each.late !== undefined || isWrite(each)) || settledWritesOf(record).length > 0,
  );
  if (some.length === 0) return [];
  const claimOf = new Map(claims.map((claim) => [claim.key, claim]));
  return store.write(async (tx) => {
    const ours = await held(tx, claims);
    const live = some.filter(({ record }) => ours.has(record.id));
    await settleLate(
      tx,
      crm,
      live.map(({ record, planned }) => ({ record, planned: planned.filter(entersHistory) })),
      now,
    );
    await endWrites(
      tx,
      live.flatMap(({ record, planned }) => (planned.every(entersHistory) ? settledWritesOf(record) : [])),
    );
    const begun = live.flatMap(({ record, planned }): PendingWrite[] => {
      const claim = claimOf.get(record.id);
      const patch = patchOf(planned);
      return claim === undefined || patch === undefined ? [] : [pendingUnder(claim, now, patch)];
    });
    await beginWrites(tx, begun);
    return begun;
  }, ASIDE);
}

/** How a write under a lease ended. If the CRM did not answer for a record, the end is unknown. */
export function endOf(written: Written | undefined, { isUnsent }: Lease): EndedWrite['end'] {
  const outcome = written?.outcome;
  if (isUnsent || outcome === undefined || outcome.kind === 'stale') return 'unsent';
  if (outcome.kind === 'retry') return 'unanswered';
  if (outcome.kind !== 'fault') return 'answered';
  if (outcome.unsent === true) return 'unsent';
  // With any other fault, the CRM did nothing.
  const isSilent = !(outcome.error instanceof ProviderError) || outcome.error.fault === 'unavailable';
  return isSilent ? 'unanswered' : 'answered';
}

const isWrite = ({ action }: Planned): boolean => action === 'write';

/** The part of a patch to recognise as ours later; a restored edit of a person is not. */
function patchOf(planned: readonly Planned[]): PendingPatch | undefined {
  const writes = planned.filter(isWrite);
  if (writes.length === 0) return undefined;
  const ours = writes.filter(({ rule }) => rule !== RETURNED);
  return [
    ...ours.map(({ property, field, old, now, seq }): PendingLine => [property, field, old, now, seq]),
    ...planned.flatMap(
      ({ property, field, old, carried, seq }): PendingPatch =>
        carried === undefined ? [] : [[property, field, old, carried, seq, true]],
    ),
  ];
}

/**
 * Adds late writes to history, each once, and remembers their values as ours. Their answers showed nothing, so a check
 * of the CRM's history finds out whether they replaced an edit.
 */
export async function settleLate(tx: Tx, crm: WrittenCrm, plans: readonly Plan[], now: number): Promise<void> {
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
    [
      ...late.map((each): Decided => lateRow(crm.name, each.record, each.property, each.late)),
      ...[...new Map(late.map((each) => [each.late.from, each.record]))].flatMap(([from, record]) =>
        carriedRows(crm.name, record, from),
      ),
    ],
    [],
    now,
  );
  await rememberWritten(
    tx,
    crm.name,
    late.map(({ record, property, late: { now: value, stored } }) => ({
      ...{ id: record.id, property, value, at: now },
      stored,
    })),
  );
  const written = late.map(({ record: { id }, late: { from } }) => ({ id, window: { from: from.at, to: now } }));
  await markBlindWrites(tx, crm, written, now);
}

/** What a late write carried: an edit of it that the write replaced is found by this. */
const carriedRows = (provider: string, { id, entity }: LinkedRecord, from: PendingWrite): readonly Decided[] =>
  patchIn(from).flatMap(([property, field, old, now, seq, isCarried]): readonly Decided[] => {
    const planned = { property, field, old, now, seq, action: 'skip', rule: 'same', carried: now } as const;
    return isCarried === true ? [{ provider, id, entity, planned, isCarried }] : [];
  });

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
  stored: late.stored,
});
