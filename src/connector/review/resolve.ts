/** What a person answers to something that needs one: `retry` and `drop`, `accept` and `keep`. */

import { drop as dropLane, unpark } from '../../runtime/lanes/lane-state.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { endBlock } from '../../runtime/limits/blocks.ts';
import type { Tx } from '../../store/store.ts';
import { settleDifference } from '../history/differences.ts';
import { dropQuarantined, retryQuarantined } from '../intake/quarantined.ts';
import { forgetReusedIds } from '../intake/reused-ids.ts';
import { refuseLeft } from '../links/left.ts';
import { endLink, findLink, type Link } from '../links/links.ts';
import { acceptSuggestion, rejectSuggestion } from '../match/answer.ts';
import { linkKey, MONITORING_QUEUE, type RecordRef } from '../names/queues.ts';
import { wakeNotes } from '../notes/due.ts';
import type { OverrideRef, Placement } from '../overrides/override.ts';
import { readRevision } from './entry-revision.ts';
import { type Replaced, storeAnswer, type TakeBackKind } from './given-answers.ts';
import { answerRefusedMail } from './mail-entries.ts';
import { DECISION, FAILED, laneVerbs, type ReviewVerb, readReviewId } from './review-kinds.ts';

/** What became of an answer to something that needs a person. */
export type Resolved =
  /** `replaced`: what it replaced; absent if it cannot be taken back. */
  | { readonly kind: 'done'; readonly note: string; readonly replaced?: Replaced[TakeBackKind] | undefined }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'impossible'; readonly reason: string };

/** An entry, and until when an answer that holds a value does so; null: without an end. */
interface AnsweredEntry extends Pick<Placement, 'by'> {
  readonly id: string;
  readonly until?: number | null | undefined;
}

/**
 * Carries out a person's answer to one thing, and keeps what it replaced for `takeBack`. What is tried again is made due, and
 * the daemon does it. Idempotent. An answer that the thing does not take changes nothing.
 */
export async function resolveReview(
  tx: Tx,
  verb: ReviewVerb,
  entry: string | AnsweredEntry,
  now: number,
): Promise<Resolved> {
  const { id, until = null, by } = typeof entry === 'string' ? { id: entry } : entry;
  const resolved = await resolve(tx, verb, { id, until, by }, now);
  if (resolved.kind !== 'done') return resolved;
  await storeAnswer(tx, id, { verb, replaced: resolved.replaced }, now);
  return { kind: 'done', note: resolved.note };
}

async function resolve(
  tx: Tx,
  verb: ReviewVerb,
  { id, until, by }: { readonly id: string; readonly until: number | null } & Pick<Placement, 'by'>,
  now: number,
): Promise<Resolved> {
  const named = readReviewId(id);
  if (named === undefined) return { kind: 'unknown' };
  const [first, second, third] = named.parts;
  switch (named.kind) {
    case 'account':
      return resolveAccount(tx, verb, first, now);
    case 'lane':
      return resolveLane(tx, verb, { queue: first, key: second }, now);
    case 'value':
      return resolveValue(tx, verb, { provider: first, recordId: second, property: third }, now);
    case 'difference':
      return resolveDifference(tx, verb, { provider: first, recordId: second, property: third, until, by }, now);
    case 'link':
      return resolveLink(tx, verb, { provider: first, recordId: second }, now);
    case 'match':
      return resolveMatch(tx, verb, { provider: first, recordId: second }, now);
    case 'body':
    case 'document':
      return resolveUnreadable(tx, verb, named.kind, Number(first));
    case 'event':
      return resolveEvent(tx, verb, Number(first), now);
    case 'sender':
      return verb === 'drop'
        ? doneWith(await forgetReusedIds(tx), 'forgotten')
        : { kind: 'impossible', reason: 'the sender must change: answer with drop' };
    case 'mail':
      return resolveMail(tx, verb, first, now);
  }
}

/** The same, where the thing is still what the person saw; the `revision` of things that are what they are is empty. */
export async function resolveIfUnchanged(
  tx: Tx,
  verb: ReviewVerb,
  { revision, ...entry }: AnsweredEntry & { readonly revision: string },
  now: number,
): Promise<Resolved | { readonly kind: 'changed' }> {
  const current = revision === '' ? undefined : await readRevision(tx, entry.id);
  if (current !== undefined && current !== revision) return { kind: 'changed' };
  return resolveReview(tx, verb, entry, now);
}

interface LaneRef {
  readonly queue: string;
  readonly key: string;
}

const done = (note: string, replaced?: Replaced[TakeBackKind]): Resolved => ({ kind: 'done', note, replaced });
/** `unknown` if the answer replaced nothing. */
const doneWith = (replaced: Replaced[TakeBackKind] | undefined, note: string): Resolved =>
  replaced === undefined ? { kind: 'unknown' } : done(note, replaced);
const doneWhere = (found: boolean, note: string): Resolved => (found ? done(note) : { kind: 'unknown' });

/** Why a thing does not take an answer; undefined if it does. */
function refusalOf(verb: ReviewVerb, verbs: readonly ReviewVerb[]): Resolved | undefined {
  if (verbs.includes(verb)) return undefined;
  const what = verbs === DECISION ? 'it waits for a decision' : 'there is nothing to decide here';
  return { kind: 'impossible', reason: `${what}: answer with ${verbs.join(' or ')}` };
}

async function resolveAccount(tx: Tx, verb: ReviewVerb, account: string, now: number): Promise<Resolved> {
  const refusal = refusalOf(verb, ['retry']);
  return refusal ?? doneWhere(await endBlock(tx, account, now), 'it is called at once');
}

async function resolveLane(tx: Tx, verb: ReviewVerb, { queue, key }: LaneRef, now: number): Promise<Resolved> {
  const refusal = refusalOf(verb, laneVerbs(key));
  if (refusal !== undefined) return refusal;
  if (verb === 'retry' || verb === 'accept') return doneWhere(await unpark(tx, queue, key, now), 'due now');
  const lane = await dropLane(tx, queue, key);
  const replaced = lane && { error: lane.error ?? `failed ${lane.attempts} times`, parkedAt: lane.parkedAt };
  return doneWith(replaced, verb === 'keep' ? 'no link ends' : 'given up');
}

async function resolveValue(tx: Tx, verb: ReviewVerb, ref: OverrideRef, now: number): Promise<Resolved> {
  const refusal = refusalOf(verb, FAILED);
  if (refusal !== undefined) return refusal;
  if (!(await forget(tx, ref))) return { kind: 'unknown' };
  if (verb === 'drop') return done('forgotten', {});
  await mark(tx, `sync:${ref.provider}`, [ref.recordId], now);
  return done('the record is synced again');
}

async function resolveDifference(
  tx: Tx,
  verb: ReviewVerb,
  { until, ...ref }: OverrideRef & { readonly until: number | null } & Pick<Placement, 'by'>,
  now: number,
): Promise<Resolved> {
  const refusal = refusalOf(verb, DECISION);
  if (refusal !== undefined) return refusal;
  const isAccepted = verb === 'accept';
  const settled = await settleDifference(tx, ref, isAccepted ? 'register' : { crmUntil: until }, now);
  if (settled === 'held')
    return { kind: 'impossible', reason: 'it is now on hold: nothing is written until the hold ends' };
  if (settled === 'none') return { kind: 'unknown' };
  const kept = until === null ? "the CRM's value is kept, and on hold" : keptUntil(until);
  return done(isAccepted ? "the register's value is written, once" : kept, settled);
}

const keptUntil = (until: number): string =>
  `the CRM's value is kept, and on hold until ${new Date(until).toISOString().slice(0, 10)}`;

async function resolveLink(tx: Tx, verb: ReviewVerb, ref: RecordRef, now: number): Promise<Resolved> {
  const link = await findLink(tx, ref);
  const isConflict = link?.state === 'conflict';
  if (!isConflict && !(link?.state === 'active' && link.observed === 'refused')) return { kind: 'unknown' };
  const refusal = refusalOf(verb, isConflict ? DECISION : FAILED);
  if (refusal !== undefined) return refusal;
  const { entity, state, reason, mismatch, desired, origin } = link;
  const replaced = { entity, state, reason, mismatch, desired, origin };
  if (verb === 'retry' || verb === 'accept') {
    await activate(tx, link, now);
    return done('the link is active, monitoring is asked for', verb === 'accept' ? replaced : undefined);
  }
  await endLink(tx, { ...ref, state: 'removed', reason: 'dropped by a person', now });
  return done('the link is removed, monitoring ends', replaced);
}

async function resolveMatch(tx: Tx, verb: ReviewVerb, ref: RecordRef, now: number): Promise<Resolved> {
  const refusal = refusalOf(verb, DECISION);
  if (refusal !== undefined) return refusal;
  const answer = verb === 'accept' ? await acceptSuggestion(tx, ref, now) : await rejectSuggestion(tx, ref, now);
  switch (answer.kind) {
    case 'unknown':
      return { kind: 'unknown' };
    case 'taken':
      return { kind: 'impossible', reason: `the record stands for ${answer.entity}` };
    case 'held':
      return {
        kind: 'impossible',
        reason: `${answer.entity} is linked to ${answer.records.join(', ')} already: answer on the match page, which shows both`,
      };
    case 'linked':
      return done(`the record is linked to ${answer.entity}, and gets its number`, {
        linked: answer.entity,
        rejected: [],
      });
    case 'rejected':
      return done(`${answer.entity} is not suggested for it again`, { rejected: [answer.entity] });
  }
}

/**
 * The observed state no longer counts: cvrsync asks upstream again. What waited for the answer is read again: notes, and
 * parents by the company's events. Where two companies claimed the record the link is the person's from now on, so that the
 * number of the other is asked about, not followed.
 */
async function activate(tx: Tx, link: Link, now: number): Promise<void> {
  const { provider, record_id: recordId } = link;
  // Nobody leaves the connection before this ends.
  await refuseLeft(tx, provider);
  await mark(tx, 'apply', [link.entity], now);
  await wakeNotes(tx, { provider, recordId }, now);
  await mark(tx, `sync:${provider}`, [recordId], now);
  await mark(tx, MONITORING_QUEUE, [linkKey(provider, recordId)], now);
  await tx
    .updateTable('link')
    .set({ state: 'active', reason: null, desired: 'on', observed: 'unknown', observed_error: null, updated_at: now })
    .$if(link.state === 'conflict' && link.mismatch === null, (query) => query.set({ origin: 'person' }))
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .execute();
}

async function resolveMail(tx: Tx, verb: ReviewVerb, monitor: string, now: number): Promise<Resolved> {
  if (verb !== 'retry' && verb !== 'drop') return refusalOf(verb, FAILED) ?? { kind: 'unknown' };
  const answered = await answerRefusedMail(tx, verb, monitor, now);
  if (answered.length === 0) return { kind: 'unknown' };
  return verb === 'retry' ? done('the addresses are tried again now') : done('mail to the addresses ends', answered);
}

const HOW_ELSE = {
  body: 'nobody could read it: correct its body, which `cvrsync review list --kind body --json` shows, feed it with `cvrsync receive FILE`, then drop it',
  document: 'cvrsync could not read it: report it, then drop it; its next version is read by itself',
} as const;

async function resolveUnreadable(tx: Tx, verb: ReviewVerb, kind: keyof typeof HOW_ELSE, id: number): Promise<Resolved> {
  const found = await tx
    .selectFrom('quarantine')
    .select('id')
    .where('id', '=', id)
    .where('source', '=', kind === 'body' ? 'webhook' : 'register')
    .executeTakeFirst();
  if (found === undefined) return { kind: 'unknown' };
  if (verb !== 'drop') return { kind: 'impossible', reason: HOW_ELSE[kind] };
  await tx.deleteFrom('quarantine').where('id', '=', id).execute();
  return done('deleted');
}

async function resolveEvent(tx: Tx, verb: ReviewVerb, seq: number, now: number): Promise<Resolved> {
  const refusal = refusalOf(verb, FAILED);
  if (refusal !== undefined) return refusal;
  if (verb === 'retry') return doneWhere(await retryQuarantined(tx, seq, now), 'applied as of the time it arrived');
  const reason = await dropQuarantined(tx, seq);
  return doneWith(reason === undefined ? undefined : { reason }, 'left out');
}

async function forget(tx: Tx, { provider, recordId, property }: OverrideRef): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('property_state')
    .set({ refused: null, refused_reason: null, refused_schema: null, refused_until: null, refused_over: null })
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .where('property', '=', property)
    .where('refused', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
