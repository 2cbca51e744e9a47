/** What nobody could read: bodies of webhooks and documents of the register, each with a copy of what came. */
import type { Db } from '../../store/store.ts';
import {
  type EntryRange,
  idOf,
  partsOf,
  type ReviewEntry,
  type ReviewKind,
  type ReviewSource,
  readReviewId,
} from './review-kinds.ts';

/** The sources of these kinds. */
export const UNREADABLE_SOURCES: readonly ReviewSource[] = [
  {
    kind: 'document',
    read: (db, _now, limit, part) => readUnreadable(db, 'register', limit, part),
    waiting: (db) => unreadable(db, 'register').select('received_at as since'),
  },
  {
    kind: 'body',
    read: (db, _now, limit, part) => readUnreadable(db, 'webhook', limit, part),
    waiting: (db) => unreadable(db, 'webhook').select('received_at as since'),
  },
];

/** Whether a copy of what came is kept of a thing. */
export const hasCopy = (kind: ReviewKind | undefined): boolean => kind === 'body' || kind === 'document';

/** What came of a thing, as text, up to 16 KiB of it; undefined if its id names nothing of which there is a copy. */
export async function readCopy(db: Db, id: string): Promise<string | undefined> {
  const named = readReviewId(id);
  if (named === undefined || !hasCopy(named.kind)) return undefined;
  const row = await db
    .selectFrom('quarantine')
    .select('body')
    .where('id', '=', Number(named.parts[0]))
    .where('source', '=', named.kind === 'body' ? 'webhook' : 'register')
    .executeTakeFirst();
  return row?.body;
}

/** Few: the quarantine keeps the newest of each source. */
const unreadable = (db: Db, from: 'webhook' | 'register') => db.selectFrom('quarantine').where('source', '=', from);

async function readUnreadable(
  db: Db,
  from: 'webhook' | 'register',
  limit: number,
  { after }: EntryRange = {},
): Promise<readonly ReviewEntry[]> {
  const rows = await unreadable(db, from)
    .select(['id', 'received_at', 'source', 'subject', 'reason'])
    .where('id', '>', Number(partsOf(after)?.[0] ?? 0))
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id, received_at: since, source, subject, reason }) =>
    source === 'register'
      ? {
          id: idOf('document', id),
          kind: 'document',
          about: `register document${subject === null ? '' : ` ${subject}`}`,
          reason: `cvrsync could not read it, and keeps what it knew: ${reason}`,
          since,
          advice: 'report it with this reason; cvrsync reads the next version of it by itself; drop forgets this one',
          decides: false,
          verbs: ['drop'],
        }
      : {
          id: idOf('body', id),
          kind: 'body',
          about: `webhook body ${id}`,
          reason,
          since,
          advice:
            'it cannot be retried: take its body from `cvrsync review list --kind body --json` or from the dashboard, correct it and feed it with `cvrsync receive FILE`; drop deletes it',
          decides: false,
          verbs: ['drop'],
        },
  );
}
