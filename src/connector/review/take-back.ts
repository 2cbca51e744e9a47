/** Takes a person's answer back: what it replaced is there again, and the entry waits in review as before. */
import { park } from '../../runtime/lanes/lane-state.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import type { Tx } from '../../store/store.ts';
import { reopenDifference } from '../history/differences.ts';
import { reopenQuarantined } from '../intake/quarantined.ts';
import { restoreReusedIds } from '../intake/reused-ids.ts';
import { readLeft } from '../links/left.ts';
import { findLink, updateLink } from '../links/links.ts';
import { takeBackMatch } from '../match/answer.ts';
import { healQueue, linkKey, MONITORING_QUEUE, type RecordRef } from '../names/queues.ts';
import type { OverrideRef } from '../overrides/override.ts';
import { countWrites, type Selection } from '../undo/writes.ts';
import { canTakeBack, findAnswer, forgetAnswer, type GivenAnswer, type Replaced } from './given-answers.ts';
import { restoreRefusedMail } from './mail-entries.ts';
import { readReviewId } from './review-kinds.ts';

/** What became of a wish to take an answer back. */
export type TakenBack =
  /** `written`: what cvrsync wrote because of the answer; an undo of each takes that back, too. */
  | { readonly kind: 'done'; readonly note: string; readonly written: readonly Selection[] }
  /** Nobody answered it, or its answer cannot be taken back any more. */
  | { readonly kind: 'unknown' }
  /** Something else has happened to it since. */
  | { readonly kind: 'changed' };

const CHANGED: TakenBack = { kind: 'changed' };
const done = (note: string, written: readonly Selection[] = []): TakenBack => ({ kind: 'done', note, written });
const doneIf = (isDone: boolean, note: string): TakenBack => (isDone ? done(note) : CHANGED);

/** Takes the last answer to an entry back, by the entry's id. */
export async function takeBack(tx: Tx, id: string, now: number): Promise<TakenBack> {
  const answer = await findAnswer(tx, id);
  const named = readReviewId(id);
  if (answer === undefined || named === undefined || !canTakeBack(answer.verb, named.kind)) return { kind: 'unknown' };
  const taken = await restore(tx, named, answer, now);
  if (taken.kind === 'done') await forgetAnswer(tx, id);
  return taken;
}

async function restore(
  tx: Tx,
  { kind, parts }: NonNullable<ReturnType<typeof readReviewId>>,
  answer: GivenAnswer,
  now: number,
): Promise<TakenBack> {
  const [first, second, third] = parts;
  const ref = { provider: first, recordId: second };
  switch (kind) {
    case 'difference':
      return restoreDifference(tx, ref, answer, now);
    case 'link':
      return restoreLink(tx, ref, answer, now);
    case 'match':
      return restoreMatch(tx, ref, answer, now);
    case 'value':
      return restoreValue(tx, { ...ref, property: third }, now);
    case 'lane': {
      const { error, parkedAt } = replacedBy(answer, kind);
      return doneIf(await park(tx, first, second, { at: parkedAt, error }), IN_REVIEW);
    }
    case 'event':
      return doneIf(await reopenQuarantined(tx, Number(first), replacedBy(answer, kind).reason), IN_REVIEW);
    case 'sender':
      return doneIf(await restoreReusedIds(tx, replacedBy(answer, kind), now), IN_REVIEW);
    case 'mail':
      return doneIf(await restoreRefusedMail(tx, first, replacedBy(answer, kind)), IN_REVIEW);
    default:
      return { kind: 'unknown' };
  }
}

const IN_REVIEW = 'it is in review again';

// storeAnswer wrote it.
const replacedBy = <K extends keyof Replaced>({ replaced }: GivenAnswer, _kind: K): Replaced[K] => JSON.parse(replaced);

/** The writes of a record since the answer, of each selection that has some. */
async function writesOf(tx: Tx, selections: readonly Selection[]): Promise<readonly Selection[]> {
  const written: Selection[] = [];
  for (const selection of selections) if ((await countWrites(tx, selection)) > 0) written.push(selection);
  return written;
}

/** The next sync finds the difference again, unless the register's value was written meanwhile. */
async function restoreDifference(tx: Tx, ref: RecordRef, answer: GivenAnswer, now: number): Promise<TakenBack> {
  const { provider, recordId: record } = ref;
  const { verb, at: since } = answer;
  const { properties } = replacedBy(answer, 'difference');
  const isOpen = await reopenDifference(tx, ref, { properties, at: since }, now);
  if (isOpen) return done('the record is compared again, and the difference is in review again');
  if (verb === 'keep') return CHANGED;
  const entity = (await findLink(tx, ref))?.entity;
  const written = await writesOf(
    tx,
    properties.map((property) => ({ provider, record, entity, property, since })),
  );
  return written.length === 0
    ? CHANGED
    : done("the register's value was written: the undo restores the CRM's", written);
}

async function restoreLink(tx: Tx, ref: RecordRef, answer: GivenAnswer, now: number): Promise<TakenBack> {
  const before = replacedBy(answer, 'link');
  // What it was in conflict with may have ended since.
  if (before.state === 'conflict') await mark(tx, healQueue(ref.provider), [ref.recordId], now);
  await mark(tx, MONITORING_QUEUE, [linkKey(ref.provider, ref.recordId)], now);
  const link = await findLink(tx, ref);
  const isAccepted = answer.verb === 'accept';
  if (link?.entity !== before.entity || link.state !== (isAccepted ? 'active' : 'removed')) return CHANGED;
  // Its leaving ended the link as well.
  if ((await readLeft(tx, ref.provider)) !== undefined) return CHANGED;
  await updateLink(tx, ref, {
    ...before,
    // The call of the answer may be under way.
    observed: 'unknown',
    observed_error: null,
    send_update: before.desired === 'on' ? 1 : 0,
    updated_at: now,
  });
  const { provider, recordId: record } = ref;
  const own = { provider, record, entity: before.entity, since: answer.at };
  return done('the link is as it was before the answer', isAccepted ? await writesOf(tx, [own]) : []);
}

async function restoreMatch(tx: Tx, ref: RecordRef, answer: GivenAnswer, now: number): Promise<TakenBack> {
  const { linked, rejected } = replacedBy(answer, 'match');
  if (!(await takeBackMatch(tx, ref, { linked, rejected }, now))) return CHANGED;
  const { provider, recordId: record } = ref;
  const written = linked === undefined ? [] : await writesOf(tx, [{ provider, record, entity: linked }]);
  return done('the record waits for an answer again', written);
}

/** A value that the CRM refuses again is in review again: what it refused is kept nowhere. */
async function restoreValue(tx: Tx, { provider, recordId }: OverrideRef, now: number): Promise<TakenBack> {
  if ((await findLink(tx, { provider, recordId }))?.state !== 'active') return CHANGED;
  await mark(tx, `sync:${provider}`, [recordId], now);
  return done('the record is synced: a value that the CRM refuses is in review again');
}
