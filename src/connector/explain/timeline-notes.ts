/** The notes that cvrsync left on a company's records, or is to leave. */
import type { Db } from '../../store/open.ts';
import type { NoteTable } from '../../store/schema.ts';
import type { TimelineLink } from './timeline.ts';

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

/** The newest of each record. */
export async function readNotes(
  db: Db,
  links: readonly TimelineLink[],
  limit: number,
): Promise<readonly TimelineNote[]> {
  const notes: TimelineNote[] = [];
  for (const { provider, record } of links) {
    const rows = await db
      .selectFrom('note')
      .select(['subject', 'seq', 'at', 'done_at', 'state'])
      .where('provider', '=', provider)
      .where('record_id', '=', record)
      .orderBy('at', 'desc')
      .limit(limit)
      .execute();
    for (const { done_at, at, ...row } of rows) notes.push({ ...row, provider, record, at: done_at ?? at });
  }
  return notes.toSorted((a, b) => b.at - a.at);
}
