/** The version of a review entry: an answer to an older version is refused. */

import type { Db } from '../../store/store.ts';
import { SAFETY_LIMIT_KEY } from '../follow/safety-limit.ts';
import { readSides } from '../history/differences.ts';
import { findLink, type Link } from '../links/links.ts';
import { readSuggestion } from '../match/results.ts';
import { revisionOf } from '../names/revision.ts';
import { readReviewId } from './review-kinds.ts';

/** Of a link in conflict or refused: its company, what speaks against it, and the reason that its row shows. */
export function linkRevision({ entity, state, mismatch, reason, observed_error }: LinkSeen): string {
  return revisionOf(entity, state, mismatch ?? '', (state === 'conflict' ? reason : observed_error) ?? '');
}

type LinkSeen = Pick<Link, 'entity' | 'state' | 'mismatch' | 'reason' | 'observed_error'>;

/** Of a safety limit: when it asked, and what about. */
export const limitRevision = (parkedAt: number, error: string | null): string =>
  revisionOf(String(parkedAt), error ?? '');

/** The revision of a thing as it is now; undefined if it is not there, or is what it is. */
export async function readRevision(db: Db, id: string): Promise<string | undefined> {
  const { kind, parts } = readReviewId(id) ?? {};
  const [provider = '', recordId = '', property = ''] = parts ?? [];
  switch (kind) {
    case 'difference': {
      const sides = await readSides(db, { provider, recordId, property });
      return sides && revisionOf(sides.crm, sides.register);
    }
    case 'link': {
      const link = await findLink(db, { provider, recordId });
      return link && linkRevision(link);
    }
    case 'match': {
      const [best] = (await readSuggestion(db, provider, recordId))?.candidates ?? [];
      return best && revisionOf(best.company);
    }
    case 'lane':
      return recordId === SAFETY_LIMIT_KEY ? readLimitRevision(db, provider) : undefined;
    default:
      return undefined;
  }
}

async function readLimitRevision(db: Db, queue: string): Promise<string | undefined> {
  const limit = await db
    .selectFrom('lane')
    .select(['parked_at', 'error'])
    .where('queue', '=', queue)
    .where('key', '=', SAFETY_LIMIT_KEY)
    .executeTakeFirst();
  return limit?.parked_at == null ? undefined : limitRevision(limit.parked_at, limit.error);
}
