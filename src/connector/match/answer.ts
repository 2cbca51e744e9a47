/** Stores a person's answer to a match. */
import { companyEntityId } from '../../protocol/entity-id.ts';
import { each } from '../../store/each.ts';
import type { Tx } from '../../store/store.ts';
import { verdictOf } from '../follow/verdict.ts';
import { endLink, findLink, type LinkResult, linkRecord, recordsOf, updateLink } from '../links/links.ts';
import type { RecordRef } from '../names/queues.ts';
import { countMatchAnswers } from './count-answer.ts';
import {
  deleteSuggestions,
  readResult,
  readSuggestion,
  restoreResult,
  retireResult,
  storeRejections,
} from './results.ts';
import { readUndecided, TAKEN_BACK } from './undecided.ts';

/**
 * `held`: other records of the connection are linked to the company already; `unknown`: the record has no suggestion
 * any more.
 */
export type SuggestionAnswer =
  | { readonly kind: 'linked' | 'rejected' | 'taken'; readonly entity: string }
  | { readonly kind: 'held'; readonly entity: string; readonly records: readonly string[] }
  | { readonly kind: 'unknown' };

/**
 * Links the record to a company, asks for its full state, and lets the next sync write its number if the record has
 * none.
 */
export async function acceptMatch(tx: Tx, ref: RecordRef, entity: string, now: number): Promise<LinkResult> {
  const linked = await linkRecord(tx, { ...ref, entity, sendUpdate: true, now });
  if (linked.kind === 'taken') return linked;
  // The person saw the record's number, so it is not reported as a mismatch.
  const held = verdictOf((await readResult(tx, ref))?.record.number ?? null, false).entity;
  await updateLink(tx, ref, { writes_number: 1, ...(held !== null && held !== entity && { mismatch: held }) });
  if (linked.kind === 'linked')
    await countMatchAnswers(tx, ref.provider, [{ ...ref, entity, is: 'accepted' }], { now });
  await deleteSuggestions(tx, ref.provider, [ref.recordId]);
  return linked;
}

async function rejectMatch(
  tx: Tx,
  { provider, recordId }: RecordRef,
  entities: readonly string[],
  now: number,
): Promise<void> {
  const rejected = entities.map((entity) => ({ record: recordId, entity }));
  await rejectMatches(tx, provider, rejected, now);
  await retireResult(tx, provider, recordId);
}

/** The same of all companies that were found for a record; undefined if it does not wait for an answer. */
export async function rejectUndecided(tx: Tx, ref: RecordRef, now: number): Promise<readonly string[] | undefined> {
  const found = await readUndecided(tx, ref);
  if (found === undefined) return undefined;
  const entities = found.candidates.map(({ company }) => companyEntityId(company));
  await rejectMatch(tx, ref, entities, now);
  return entities;
}

export async function rejectMatches(
  tx: Tx,
  provider: string,
  rejected: readonly { readonly record: string; readonly entity: string }[],
  now: number,
): Promise<void> {
  const added = await storeRejections(tx, provider, rejected);
  const answers = added.map((one) => ({ ...one, is: 'rejected' as const }));
  await countMatchAnswers(tx, provider, answers, { now });
}

/**
 * Undoes a person's answer: ends the link to this company, or lets a match propose these companies again. The record
 * waits for an answer as before. False if it got another answer since.
 */
export async function takeBackMatch(
  tx: Tx,
  ref: RecordRef,
  { linked, rejected }: { readonly linked?: string | undefined; readonly rejected: readonly string[] },
  now: number,
): Promise<boolean> {
  const link = await findLink(tx, ref);
  const isLinked = link?.state === 'active';
  if (linked !== undefined) {
    if (!isLinked || link.entity !== linked) return false;
    await endLink(tx, { ...ref, state: 'removed', reason: TAKEN_BACK, now });
    const answer = { ...ref, entity: linked, is: 'accepted' } as const;
    await countMatchAnswers(tx, ref.provider, [answer], { now, isBack: true });
  } else {
    const deleted = isLinked ? [] : await deleteRejections(tx, ref, rejected);
    if (deleted.length === 0) return false;
    const answers = deleted.map((entity) => ({ ...ref, entity, is: 'rejected' as const }));
    await countMatchAnswers(tx, ref.provider, answers, { now, isBack: true });
  }
  await restoreResult(tx, ref.provider, ref.recordId, now);
  return true;
}

async function deleteRejections(
  tx: Tx,
  { provider, recordId }: RecordRef,
  entities: readonly string[],
): Promise<readonly string[]> {
  const rows = await tx
    .deleteFrom('match_rejection')
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .where('entity', 'in', each(tx, entities))
    .returning('entity')
    .execute();
  return rows.map(({ entity }) => entity);
}

/** Accepts the suggested company, unless another record of the connection has it. */
export async function acceptSuggestion(tx: Tx, ref: RecordRef, now: number): Promise<SuggestionAnswer> {
  const entity = await suggestedEntity(tx, ref);
  if (entity === undefined) return { kind: 'unknown' };
  const holders = (await recordsOf(tx, [entity])).filter(({ provider }) => provider === ref.provider);
  if (holders.length > 0) return { kind: 'held', entity, records: holders.map(({ record_id }) => record_id) };
  const linked = await acceptMatch(tx, ref, entity, now);
  return linked.kind === 'taken' ? linked : { kind: 'linked', entity };
}

export async function rejectSuggestion(tx: Tx, ref: RecordRef, now: number): Promise<SuggestionAnswer> {
  const entity = await suggestedEntity(tx, ref);
  if (entity === undefined) return { kind: 'unknown' };
  await rejectMatch(tx, ref, [entity], now);
  return { kind: 'rejected', entity };
}

async function suggestedEntity(tx: Tx, { provider, recordId }: RecordRef): Promise<string | undefined> {
  const [best] = (await readSuggestion(tx, provider, recordId))?.candidates ?? [];
  return best === undefined ? undefined : companyEntityId(best.company);
}
