/** A person's answer to a suggested match. */
import { companyEntityId } from '../../protocol/entity-id.ts';
import type { Tx } from '../../store/store.ts';
import { linkRecord, type RecordRef, updateLink } from '../links/links.ts';
import { deleteSuggestions, readSuggestion, rejectMatches } from './results.ts';

/** What became of an answer; `unknown` where nothing is suggested for the record any more. */
export type SuggestionAnswer =
  | { readonly kind: 'linked' | 'rejected'; readonly entity: string }
  | { readonly kind: 'taken'; readonly entity: string }
  | { readonly kind: 'unknown' };

/** Links the record to the suggested company, asks for its full state, and has its number written where it has none. */
export async function acceptSuggestion(tx: Tx, ref: RecordRef, now: number): Promise<SuggestionAnswer> {
  const entity = await suggestedEntity(tx, ref);
  if (entity === undefined) return { kind: 'unknown' };
  const linked = await linkRecord(tx, { ...ref, entity, sendUpdate: true, now });
  if (linked.kind === 'taken') return linked;
  await updateLink(tx, ref, { writes_number: 1 });
  await deleteSuggestions(tx, ref.provider, [ref.recordId]);
  return { kind: 'linked', entity };
}

/** Remembers that the record does not mean the company: no match proposes it again. */
export async function rejectSuggestion(tx: Tx, ref: RecordRef): Promise<SuggestionAnswer> {
  const entity = await suggestedEntity(tx, ref);
  if (entity === undefined) return { kind: 'unknown' };
  await rejectMatches(tx, ref.provider, [{ record: ref.recordId, entity }]);
  await deleteSuggestions(tx, ref.provider, [ref.recordId]);
  return { kind: 'rejected', entity };
}

async function suggestedEntity(tx: Tx, { provider, recordId }: RecordRef): Promise<string | undefined> {
  const [best] = (await readSuggestion(tx, provider, recordId))?.candidates ?? [];
  return best === undefined ? undefined : companyEntityId(best.company);
}
