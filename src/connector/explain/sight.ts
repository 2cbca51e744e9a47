/** What a person sees of a thing that may become another one before they answer it. */
import { hash } from 'node:crypto';
import type { Db } from '../../store/store.ts';
import { findLink } from '../links/links.ts';
import { readSuggestion } from '../match/results.ts';
import { readAttentionId } from './attention-kinds.ts';

/** What was seen, as one short text. */
export const sightOf = (...seen: readonly string[]): string =>
  hash('sha256', JSON.stringify(seen), 'base64url').slice(0, 16);

/** The sight of a thing as it is now; undefined where it is not there, or is what it is. */
export async function readSight(db: Db, id: string): Promise<string | undefined> {
  const { kind, parts } = readAttentionId(id) ?? {};
  const [provider = '', recordId = '', property = ''] = parts ?? [];
  switch (kind) {
    case 'difference': {
      const row = await db
        .selectFrom('property_state')
        .select(['kept', 'offered'])
        .where('provider', '=', provider)
        .where('record_id', '=', recordId)
        .where('property', '=', property)
        .executeTakeFirst();
      return row?.kept == null ? undefined : sightOf(row.kept, row.offered ?? 'null');
    }
    case 'link': {
      const link = await findLink(db, { provider, recordId });
      return link && sightOf(link.entity, link.state);
    }
    case 'match': {
      const [best] = (await readSuggestion(db, provider, recordId))?.candidates ?? [];
      return best && sightOf(best.company);
    }
    default:
      return undefined;
  }
}
