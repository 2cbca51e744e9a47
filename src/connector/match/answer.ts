/** A person's answer to what a match found for a record. */
import { companyEntityId } from '../../protocol/entity-id.ts';
import type { Tx } from '../../store/store.ts';
import { type LinkResult, linkRecord, type RecordRef, updateLink } from '../links/links.ts';
import { deleteResult, deleteSuggestions, readSuggestion, rejectMatches } from './results.ts';

/** What became of an answer to a suggestion; `unknown` where nothing is suggested for the record any more. */
export type SuggestionAnswer =
  | { readonly kind: 'linked' | 'rejected' | 'taken'; readonly entity: string }
  | { readonly kind: 'unknown' };

/** Links the record to a company, asks for its full state, and has its number written where the record has none. */
export async function acceptMatch(tx: Tx, ref: RecordRef, entity: string, now: number): Promise<LinkResult> {
  const linked = await linkRecord(tx, { ...ref, entity, sendUpdate: true, now });
  if (linked.kind === 'taken') return linked;
  await updateLink(tx, ref, { writes_number: 1 });
  await deleteSuggestions(tx, ref.provider, [ref.recordId]);
  return linked;
}

/** Remembers that the record means none of these companies: no match proposes them again. */
export async function rejectMatch(
  tx: Tx,
  { provider, recordId }: RecordRef,
  entities: readonly string[],
): Promise<void> {
  await rejectMatches(
    tx,
    provider,
    entities.map((entity) => ({ record: recordId, entity })),
  );
  await deleteResult(tx, provider, recordId);
}

/** Accepts the company that is suggested for a record. */
export async function acceptSuggestion(tx: Tx, ref: RecordRef, now: number): Promise<SuggestionAnswer> {
  const entity = await suggestedEntity(tx, ref);
  if (entity === undefined) return { kind: 'unknown' };
  const linked = await acceptMatch(tx, ref, entity, now);
  return linked.kind === 'taken' ? linked : { kind: 'linked', entity };
}

/** Rejects the company that is suggested for a record. */
export async function rejectSuggestion(tx: Tx, ref: RecordRef): Promise<SuggestionAnswer> {
  const entity = await suggestedEntity(tx, ref);
  if (entity === undefined) return { kind: 'unknown' };
  await rejectMatch(tx, ref, [entity]);
  return { kind: 'rejected', entity };
}

async function suggestedEntity(tx: Tx, { provider, recordId }: RecordRef): Promise<string | undefined> {
  const [best] = (await readSuggestion(tx, provider, recordId))?.candidates ?? [];
  return best === undefined ? undefined : companyEntityId(best.company);
}
