/**
 * Leaves each note exactly once: stores the attempt before it sends a note, and searches the CRM before it sends one
 * again.
 */
import type { Notes, Read } from '../../../providers/provider.ts';
import type { Metrics } from '../../http/metrics.ts';
import { type Claim, mark, type Settlement, settleAll } from '../../runtime/lanes/lanes.ts';
import { leaseOf } from '../../runtime/lanes/lease.ts';
import type { Store } from '../../store/store.ts';
import type { AbilityGate } from '../crm/ability.ts';
import type { Crm } from '../crm/crm.ts';
import { guardOf, type LostLeaseDeps, reportLostLeases } from '../crm/lost-lease.ts';
import { withSendGuard } from '../crm/send-guard.ts';
import { type FaultSettlement, isContested, later, UNMENTIONED, whileContested } from '../crm/settle.ts';
import type { Objection } from '../follow/decide-link.ts';
import { readRecordState } from '../follow/record-state.ts';
import { markContested } from '../follow/safety-limit.ts';
import { noteQueue } from '../names/queues.ts';
import { type DueNote, type DueRecord, dropNotes, dueNotes, finishNote, moveNotes, startNote } from './due.ts';

export interface NoteDeps {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly log?: LostLeaseDeps['log'];
  readonly now: () => number;
  readonly gate: AbilityGate;
}

/** A sent note may take this long to appear in the CRM; only then does its absence prove the loss. */
const ARRIVAL_MS = 15_000;
/** Notes of a link in conflict are checked again after this time. */
const WAIT_MS = 6 * 3_600_000;
/** How far the CRM's clock may differ. */
const CLOCK_MS = 24 * 3_600_000;

/** Reads the records once; one call for each note, two after a lost answer. */
export async function leaveNotes(
  deps: NoteDeps,
  crm: Crm,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  const { store, metrics, now } = deps;
  const waiting = await dueNotes(
    store.db,
    crm.name,
    claims.map(({ key }) => key),
  );
  const settlements: (readonly [Claim, Settlement])[] = [];
  const open = new Map<Claim, DueRecord>();
  for (const claim of claims) {
    const one = waiting.get(claim.key);
    const known = one === undefined ? ({ kind: 'done' } as const) : await settleByLink(deps, crm, claim, one);
    if (known !== undefined) settlements.push([claim, known]);
    else if (one !== undefined) open.set(claim, one);
  }
  settlements.push(...(await settleByRecord(deps, crm, open, signal)));
  const contested = settlements.flatMap(([{ key }, settlement]) => (isContested(settlement) ? [key] : []));
  const ours = await store.write(async (tx) => {
    // In one transaction with the settlement: a link decided earlier would wake nothing.
    await markContested(tx, crm.name, contested, now());
    return settleAll(tx, settlements);
  });
  for (const [, { kind }] of settlements) metrics.attempts.inc({ queue: noteQueue(crm.name), result: kind });
  reportLostLeases(deps, noteQueue(crm.name), { lost: settlements.length - ours.size, sent: 0 });
}

/** Undefined unless the link alone decides that the record gets no note now. */
async function settleByLink(
  { store, now }: NoteDeps,
  { name }: Crm,
  claim: Claim,
  { link }: DueRecord,
): Promise<Settlement | undefined> {
  if (link?.state === 'active' || link?.state === 'merged') return undefined;
  if (link?.state === 'conflict') return { kind: 'again', at: now() + WAIT_MS, fresh: true };
  const reason = link === undefined ? 'the record is not linked' : `the link is ${link.state}`;
  await store.write((tx) => dropNotes(tx, { provider: name, recordId: claim.key }, reason, now()));
  return { kind: 'done' };
}

async function settleByRecord(
  deps: NoteDeps,
  crm: Crm,
  open: ReadonlyMap<Claim, DueRecord>,
  signal: AbortSignal,
): Promise<readonly (readonly [Claim, Settlement])[]> {
  const claims = [...open.keys()];
  if (claims.length === 0) return [];
  const ids = claims.map(({ key }) => key);
  const settlements: (readonly [Claim, Settlement])[] = [];
  let fault: FaultSettlement | undefined;
  const guarded = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      fault = await deps.gate.settle(error);
      return undefined;
    }
  };
  const state = await guarded(() => readRecordState({ ...deps, crm }, ids, signal));
  for (const [index, claim] of claims.entries()) {
    const one = open.get(claim);
    const process = async () =>
      one &&
      leaveAll(
        deps,
        {
          ...one,
          crm,
          claim,
          read: state?.reads[index],
          held: state?.holds.get(claim.key),
          objection: state?.objections.get(claim.key),
        },
        signal,
      );
    const settlement = fault === undefined ? await guarded(process) : undefined;
    settlements.push([claim, settlement ?? fault?.of(claim) ?? { kind: 'again', at: deps.now(), free: true }]);
  }
  return settlements;
}

interface NoteTarget extends DueRecord {
  readonly crm: Crm;
  readonly claim: Claim;
  readonly read: Read | undefined;
  /** When the hold ends or is checked again; undefined without a hold. */
  readonly held: number | undefined;
  readonly objection: Objection | undefined;
}

async function leaveAll(deps: NoteDeps, target: NoteTarget, signal: AbortSignal): Promise<Settlement> {
  const unreachable = await settleByRead(deps, target);
  if (unreachable !== undefined) return unreachable;
  if (target.held !== undefined) return { kind: 'again', at: target.held, fresh: true };
  if (target.objection !== undefined) return whileContested(target.objection.reason, deps.now());
  let refused: string | undefined;
  for (const note of target.notes) {
    const result = await leaveNote(deps, target, note, signal);
    if (result.kind === 'refused') refused ??= result.reason;
    else if (result.kind === 'settled') return result.settlement;
  }
  return refused === undefined ? { kind: 'done' } : { kind: 'parked', at: deps.now(), error: refused };
}

/** Undefined if the CRM holds the record as its link says. */
async function settleByRead(
  { store, now }: NoteDeps,
  { crm, claim, read, link }: NoteTarget,
): Promise<Settlement | undefined> {
  const ref = { provider: crm.name, recordId: claim.key };
  const isActive = link?.state === 'active';
  if (read === undefined || read.kind === 'retry') return later(claim, now(), read?.reason ?? UNMENTIONED);
  if (read.kind === 'moved' && !isActive) {
    const waits = await store.write((tx) => moveNotes(tx, ref, read.to, now()));
    return waits ? { kind: 'again', at: now() + WAIT_MS, fresh: true } : { kind: 'done' };
  }
  if (read.kind !== 'found' && isActive) {
    // The sync lets the link follow the record; then the note's place is known.
    await store.write((tx) => mark(tx, `sync:${crm.name}`, [claim.key], now()));
    return later(claim, now(), read.kind === 'gone' ? 'deleted in the CRM' : `merged into ${read.to}`);
  }
  if (read.kind !== 'found' || !isActive) {
    await store.write((tx) => dropNotes(tx, ref, 'the record is gone', now()));
    return { kind: 'done' };
  }
  return undefined;
}

type NoteResult =
  | { readonly kind: 'left' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'settled'; readonly settlement: Settlement };

const settled = (settlement: Settlement): NoteResult => ({ kind: 'settled', settlement });

async function leaveNote(
  deps: NoteDeps,
  { crm, claim }: Pick<NoteTarget, 'crm' | 'claim'>,
  note: DueNote,
  signal: AbortSignal,
): Promise<NoteResult> {
  const { store, now } = deps;
  const { notes } = crm.connection;
  if (notes === undefined) return { kind: 'refused', reason: `${crm.name} leaves no notes` };
  if (note.attempted_at !== null) {
    const arrived = note.attempted_at + ARRIVAL_MS;
    if (arrived > now()) return settled({ kind: 'again', at: arrived, free: true, error: 'waits for a lost answer' });
    const found = await notes.find(claim.key, note.marker, note.at - CLOCK_MS, signal);
    if (found !== undefined) {
      await store.write((tx) => finishNote(tx, note, found, now()));
      return { kind: 'left' };
    }
  }
  const start = await store.write((tx) => startNote(tx, claim, note, now()));
  if (start === 'foreign') return { kind: 'left' };
  if (start === 'stop') return settled({ kind: 'again', at: now(), free: true });
  const guard = guardOf(leaseOf(store, [claim], now));
  const outcome = await withSendGuard(guard, () => add(notes, note, signal));
  return finish(deps, claim, note, outcome);
}

const add = (notes: Notes, note: DueNote, signal: AbortSignal) =>
  notes.add(
    { recordId: note.record_id, at: note.at, subject: note.subject, text: note.body, marker: note.marker },
    signal,
  );

async function finish(
  { store, now }: NoteDeps,
  claim: Claim,
  note: DueNote,
  outcome: Awaited<ReturnType<typeof add>>,
): Promise<NoteResult> {
  switch (outcome.kind) {
    case 'written':
      // Also if another process owns the lane now: the note exists.
      await store.write((tx) => finishNote(tx, note, outcome.id, now()));
      return { kind: 'left' };
    case 'rejected':
      return { kind: 'refused', reason: outcome.reason };
    case 'retry':
      return settled(later(claim, now(), outcome.reason));
    case 'gone':
      return settled(later(claim, now(), 'the record is gone in the CRM'));
  }
}
