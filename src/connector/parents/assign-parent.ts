/**
 * Assigns the parents that follow from ownership, and removes those that cvrsync assigned and that no longer follow.
 */
import type { Outcome, ParentRead, Parents } from '../../../providers/provider.ts';
import type { Metrics } from '../../http/metrics.ts';
import { type Claim, held, type Settlement, settleAll } from '../../runtime/lanes/lanes.ts';
import {
  beginWrites,
  isShown,
  type PendingWrite,
  pendingUnder,
  settleWrites,
} from '../../runtime/lanes/pending-writes.ts';
import type { Store } from '../../store/store.ts';
import type { AbilityGate } from '../crm/ability.ts';
import type { Crm } from '../crm/crm.ts';
import { isHeldByOverride } from '../crm/hold.ts';
import { type LostLeaseDeps, reportLostLeases } from '../crm/lost-lease.ts';
import { type SendGuard, timeRead } from '../crm/send-guard.ts';
import { type FaultSettlement, later, UNMENTIONED, whileContested } from '../crm/settle.ts';
import { type RecordState, readRecordState } from '../follow/record-state.ts';
import type { Happened } from '../history/history.ts';
import { standsFor } from '../links/links.ts';
import { parentQueue } from '../names/queues.ts';
import { tooOld } from '../write/freshness.ts';
import { type AssignResult, recordResults, rememberParent } from './assign-result.ts';
import { type DesiredParent, pendingParent, readDesiredParents } from './desired-parent.ts';
import { mayBeUnder, readLineage } from './lineage.ts';
import { type BegunWrites, sendWrite } from './send-write.ts';

export interface AssignDeps {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly log?: LostLeaseDeps['log'];
  readonly now: () => number;
  readonly gate: AbilityGate;
}

const DONE: Settlement = { kind: 'done' };
/** A record above in a circle may be about to move: retry for about a minute. */
const CIRCLE_TRIES = 6;

export async function assignParents(
  deps: AssignDeps,
  crm: Crm,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  const { store, metrics, now } = deps;
  const ids = claims.map(({ key }) => key);
  const desiredParents = new Map(
    (await readDesiredParents(store, crm.name, ids)).map((desired) => [desired.id, desired]),
  );
  const begun: BegunWrites = new Map();
  const open = claims.filter(({ key }) => concernsCrm(desiredParents.get(key)));
  const rest = claims
    .filter((claim) => !open.includes(claim))
    .map((claim) => resultWithoutRead(crm.name, claim, desiredParents));
  const results = [
    ...rest,
    ...(open.length === 0 ? [] : await assignAll(deps, { crm, claims: open, desiredParents, begun }, signal)),
  ];
  const { ours, overtaken } = await store.write(async (tx) => {
    const keys = await held(tx, claims);
    await recordResults(
      tx,
      crm.name,
      results.filter(({ claim }) => keys.has(claim.key)),
      now(),
    );
    const ended = [...begun.values()].map((each) => ({ ...each, isOurs: keys.has(each.write.key) }));
    const overtaken = (await settleWrites(tx, ended, now())).size;
    const ours = await settleAll(
      tx,
      results.map(({ claim, settlement }) => [claim, settlement]),
    );
    return { ours, overtaken };
  });
  for (const { settlement } of results) metrics.attempts.inc({ queue: parentQueue(crm.name), result: settlement.kind });
  reportLostLeases(deps, parentQueue(crm.name), { lost: results.length - ours.size, sent: overtaken });
}

/** Whether a CRM read is needed: most companies never had a majority owner. */
const concernsCrm = (desired: DesiredParent | undefined): boolean =>
  desired !== undefined &&
  (desired.wanted.kind === 'parent' ||
    (desired.wanted.kind === 'none' && (desired.given !== null || desired.pending.length > 0)));

function resultWithoutRead(
  provider: string,
  claim: Claim,
  desiredParents: ReadonlyMap<string, DesiredParent>,
): AssignResult {
  const desired = desiredParents.get(claim.key);
  if (desired?.wanted.kind !== 'leave' || desired.wanted.why === undefined) return { claim, settlement: DONE };
  return { claim, settlement: DONE, happened: parentEvent(provider, desired, `no parent: ${desired.wanted.why}`) };
}

const parentEvent = (provider: string, { id, entity }: DesiredParent, detail: string): Happened => {
  return { provider, id, entity, rule: 'parent', detail };
};

interface Assignment {
  readonly crm: Crm;
  readonly claims: readonly Claim[];
  readonly desiredParents: ReadonlyMap<string, DesiredParent>;
  readonly begun: BegunWrites;
}

async function assignAll(
  deps: AssignDeps,
  { crm, claims, desiredParents, begun }: Assignment,
  signal: AbortSignal,
): Promise<readonly AssignResult[]> {
  const { parents } = crm.connection;
  if (parents === undefined) return claims.map((claim) => ({ claim, settlement: DONE }));
  const results = new Map<string, AssignResult>();
  try {
    await crm.schema(signal);
    const ids = claims.map(({ key }) => key);
    const readFrom = deps.now();
    const reads = await parents.read(ids, signal);
    const pending: ParentWrite[] = [];
    const known = claims.flatMap((claim, index) => {
      const desired = desiredParents.get(claim.key);
      return desired === undefined ? [] : [{ claim, desired, read: reads[index] }];
    });
    for (const { claim, desired, read } of known) {
      const decided = decideByRead(crm.name, { claim, desired }, read, deps.now());
      const shown = desired.pendingWrites.filter((write) => isShown(write, readFrom));
      if ('settlement' in decided)
        results.set(claim.key, decided.settlement === DONE ? { ...decided, shown } : decided);
      else pending.push(decided);
    }
    await writeAll({ ...deps, begun }, { crm, parents, results }, pending, signal);
  } catch (error) {
    signal.throwIfAborted();
    const fault: FaultSettlement = await deps.gate.settle(error);
    for (const claim of claims)
      if (!results.has(claim.key)) results.set(claim.key, { claim, settlement: fault.of(claim) });
  }
  return claims.flatMap((claim) => results.get(claim.key) ?? []);
}

interface ParentWrite {
  readonly claim: Claim;
  readonly desired: DesiredParent;
  readonly parent: string | null;
  readonly was: string | null;
}

function decideByRead(
  provider: string,
  { claim, desired }: Pick<ParentWrite, 'claim' | 'desired'>,
  read: ParentRead | undefined,
  now: number,
): AssignResult | ParentWrite {
  if (read === undefined) return { claim, settlement: later(claim, now, UNMENTIONED) };
  if (read.kind !== 'found') return resultOfMissing(claim, read, now);
  const decision = decideParent(read.parent, desired);
  switch (decision.kind) {
    case 'write':
      return { claim, desired, parent: decision.parent, was: read.parent };
    case 'keep':
      return { claim, settlement: DONE, given: null, happened: parentEvent(provider, desired, decision.detail) };
    case 'done':
      return { claim, settlement: DONE, given: decision.given };
  }
}

function resultOfMissing(
  claim: Claim,
  read: { kind: 'gone' } | { kind: 'moved'; to: string },
  now: number,
): AssignResult {
  const error = read.kind === 'gone' ? 'deleted in the CRM' : `merged into ${read.to}`;
  return { claim, settlement: later(claim, now, error), astray: claim.key };
}

type WriteDeps = AssignDeps & { readonly begun: BegunWrites };

interface ParentTarget {
  readonly crm: Crm;
  readonly parents: Parents;
  readonly results: Map<string, AssignResult>;
}

async function writeAll(
  deps: WriteDeps,
  target: ParentTarget,
  pending: readonly ParentWrite[],
  signal: AbortSignal,
): Promise<void> {
  const { store, now } = deps;
  const { crm, parents, results } = target;
  if (pending.length === 0) return;
  const ids = pending.map(({ desired }) => desired.id);
  const wanted = pending.flatMap(({ parent }) => parent ?? []);
  const state = await readRecordState({ store, crm, now }, [...new Set([...ids, ...wanted])], signal);
  const lineage = await readLineage(parents, wanted, crm.limits.batch.read, signal);
  // Removals go first: when two records swap places, one can move below the other only then.
  for (const one of pending.toSorted((a, b) => Number(a.parent !== null) - Number(b.parent !== null))) {
    const { claim, desired, parent } = one;
    const blocked = resultWithoutWrite(one, state, now());
    if (blocked !== undefined) results.set(claim.key, blocked);
    else if (parent !== null && !mayBeUnder(lineage, desired.id, parent)) {
      const detail = `no parent: ${parent} stands below this record in the CRM`;
      const result: AssignResult = { claim, settlement: DONE, happened: parentEvent(crm.name, desired, detail) };
      results.set(
        claim.key,
        claim.attempts < CIRCLE_TRIES ? { claim, settlement: later(claim, now(), detail) } : result,
      );
    } else {
      const result = await writeParent(deps, target, one, signal);
      if (result.isWritten) lineage.set(desired.id, parent);
      results.set(claim.key, result);
    }
  }
}

/**
 * The result of a held record, or of one that, like its parent, no longer belongs to its company; undefined for others.
 */
function resultWithoutWrite(
  { claim, desired, parent }: ParentWrite,
  { holds, objections }: RecordState,
  now: number,
): AssignResult | undefined {
  const held = holds.get(desired.id);
  if (held !== undefined) return { claim, settlement: { kind: 'again', at: held, fresh: true } };
  for (const astray of parent === null ? [desired.id] : [desired.id, parent]) {
    const objection = objections.get(astray);
    if (objection !== undefined) return { claim, settlement: whileContested(objection.reason, now), astray };
  }
  return undefined;
}

/** Reads the parent again right before the write, unless a person chose one meanwhile. */
async function writeParent(
  deps: WriteDeps,
  { crm, parents }: ParentTarget,
  one: ParentWrite,
  signal: AbortSignal,
): Promise<AssignResult & { readonly isWritten: boolean }> {
  const { store, metrics, now, begun } = deps;
  const { claim, desired } = one;
  const write = await beginWrite(store, crm.name, one, now());
  if (write === undefined) return { claim, settlement: { kind: 'again', at: now(), free: true }, isWritten: false };
  for (let reads = 1; reads <= MOST_READS; reads += 1) {
    const read = await timeRead(now, () => parents.read([desired.id], signal));
    const decided = decideByRead(crm.name, one, read.answer[0], now());
    begun.set(claim.key, { write, end: 'unsent' });
    if ('settlement' in decided) return { ...decided, isWritten: false };
    // If the CRM never answers that fast, the write follows right after the answer.
    const slowMs = reads < MOST_READS ? 0 : now() - read.from;
    const age = watchAge(() => now() - read.from, freshMs(crm) + slowMs);
    const { parent, was } = decided;
    try {
      const send = () => parents.write({ id: desired.id, parent, was }, signal);
      const outcome = await sendWrite(deps, { claim, write, guard: age.guard }, send);
      metrics.readToWriteSeconds.observe({ provider: crm.name }, (now() - read.from) / 1_000);
      return { ...resultFor(crm.name, decided, outcome, now()), isWritten: outcome.kind === 'written' };
    } catch (error) {
      if (!age.isOld()) throw error;
    }
  }
  return { claim, settlement: later(claim, now(), tooOld().message), isWritten: false };
}

const MOST_READS = 3;
/** A parent is written within this time after its read; the read and the write may take two calls each. */
const FRESH_MS = 1_000;
const CALLS = 4;

/** Adds the time by which the CRM's rate limit separates these calls. */
function freshMs({ limits }: Crm): number {
  const { calls, perMs } = limits.budgets.default;
  return FRESH_MS + (CALLS * perMs) / calls;
}

/** Stops a write whose read is older than that; once the first call was sent, the rest follows. */
function watchAge(age: () => number, mostMs: number) {
  let hasLeft = false;
  let old = false;
  const guard: SendGuard = ({ method }) => {
    if (method === 'GET' || hasLeft) return;
    old = age() > mostMs;
    if (old) throw tooOld();
    hasLeft = true;
  };
  return { guard, isOld: () => old };
}

/**
 * Stores the pending write, so that cvrsync recognises it later. Undefined if the lane is no longer ours, the record or
 * its parent changed its company, or a person held it meanwhile.
 */
async function beginWrite(
  store: Store,
  provider: string,
  { claim, desired, parent }: ParentWrite,
  now: number,
): Promise<PendingWrite | undefined> {
  if (await isHeldByOverride(store.db, provider, desired.id, now)) return undefined;
  const write = pendingUnder(claim, now, pendingParent(parent));
  return store.write(async (tx) => {
    if ((await held(tx, [claim])).size === 0) return undefined;
    if (!(await standsFor(tx, { provider, recordId: desired.id }, desired.entity))) return undefined;
    const { wanted } = desired;
    if (wanted.kind === 'parent' && parent !== null)
      if (!(await standsFor(tx, { provider, recordId: parent }, wanted.owner))) return undefined;
    await beginWrites(tx, [write]);
    if (parent !== null) await rememberParent(tx, provider, desired.id, { pending_id: parent });
    return write;
  });
}

function resultFor(
  provider: string,
  { claim, desired, parent, was }: ParentWrite,
  outcome: Outcome,
  now: number,
): AssignResult {
  switch (outcome.kind) {
    case 'written': {
      const { why } = desired.wanted;
      const detail = parent === null ? `parent ${was} ended: ${why}` : `parent ${parent}: ${why}`;
      return { claim, settlement: DONE, given: parent, happened: parentEvent(provider, desired, detail) };
    }
    case 'rejected':
    case 'call-refused':
      return { claim, settlement: { kind: 'parked', at: now, error: outcome.reason } };
    case 'retry':
      return { claim, settlement: later(claim, now, outcome.reason, { atLeastMs: outcome.retryAfterMs }) };
    default:
      return resultOfMissing(claim, outcome, now);
  }
}

/** `given`: the parent that is ours afterwards. */
type ParentDecision =
  | { readonly kind: 'done'; readonly given: string | null }
  | { readonly kind: 'write'; readonly parent: string | null }
  | { readonly kind: 'keep'; readonly detail: string };

/** Replaces or removes the CRM's parent only if it is blank or ours. */
function decideParent(crm: string | null, { given, pending, wanted }: DesiredParent): ParentDecision {
  const isOurs = crm !== null && (crm === given || pending.includes(crm));
  switch (wanted.kind) {
    case 'leave':
      return { kind: 'done', given };
    case 'none':
      return isOurs ? { kind: 'write', parent: null } : { kind: 'done', given: null };
    case 'parent':
      // If the CRM merged our parent into this one, it is ours.
      if (crm === wanted.id) return { kind: 'done', given: isOurs || given !== null ? crm : null };
      if (crm === null || isOurs) return { kind: 'write', parent: wanted.id };
      return { kind: 'keep', detail: `a person chose ${crm}, it stays; ${wanted.why}` };
  }
}
