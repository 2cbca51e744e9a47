/** The notes that cvrsync left on a company's records, or is to leave. */
import { sql } from 'kysely';
import type { Db } from '../../store/open.ts';
import type { NoteTable } from '../../store/schema.ts';
import type { TimelineLink } from './timeline-links.ts';

export interface TimelineNote {
  readonly provider: string;
  readonly record: string;
  /** What it tells, as its heading has it. */
  readonly subject: string;
  /** The event that it tells of. */
  readonly seq: number;
  /** When it was left; of one that is not, when its event was. */
  readonly at: number;
  /** `dropped`: the record is gone, or the CRM refused it. */
  readonly state: NoteTable['state'];
}

/** The newest of them. */
export async function readNotes(
  db: Db,
  links: readonly TimelineLink[],
  { limit, until = Number.MAX_SAFE_INTEGER }: { readonly limit: number; readonly until?: number | undefined },
): Promise<readonly TimelineNote[]> {
  const notes: TimelineNote[] = [];
  for (const { provider, record } of links) {
    const at = sql<number>`coalesce(done_at, at)`;
    const rows = await db
      .selectFrom('note')
      .select(['subject', 'seq', 'state', at.as('at')])
      .where('provider', '=', provider)
      .where('record_id', '=', record)
      .where(at, '<=', until)
      .orderBy(at, 'desc')
      .limit(limit)
      .execute();
    notes.push(...rows.map((row) => ({ ...row, provider, record })));
  }
  return notes.toSorted((a, b) => b.at - a.at).slice(0, limit);
}
