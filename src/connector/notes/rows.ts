/** Stores notes in one transaction with the facts of their events. */

import { sql } from 'kysely';
import type { EventName } from '../../protocol/events.ts';
import type { Payload } from '../../protocol/payload.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { each, eachRow } from '../../store/each.ts';
import type { Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { noteQueue } from '../names/queues.ts';
import { type Composed, composeNote, type NotedEvent, type NoteRule } from './compose.ts';

export interface NoteRules {
  readonly of: ReadonlyMap<string, NoteRule>;
  /** Events that any connection wants: this excludes most payloads. */
  readonly events: ReadonlySet<EventName>;
}

export type NoteSettings = Pick<Crm, 'name' | 'notes' | 'persons'> & {
  readonly connection: Pick<Crm['connection'], 'notes'>;
};

/** Whether the connection wants notes and the CRM can hold them. */
export const leavesNotes = ({ notes, connection }: NoteSettings): boolean =>
  notes.length > 0 && connection.notes !== undefined;

export function noteRules(crms: readonly NoteSettings[]): NoteRules | undefined {
  const noting = crms.filter(leavesNotes);
  if (noting.length === 0) return undefined;
  return {
    of: new Map(noting.map(({ name, notes, persons }) => [name, { events: new Set(notes), persons }])),
    events: new Set(noting.flatMap(({ notes }) => notes)),
  };
}

export function mayBeNoted({ events }: NoteRules, { updates }: Payload): boolean {
  for (const event in updates) if (events.has(event as EventName)) return true; // the keys of updates are event names
  return false;
}

interface NoteRow extends Composed {
  readonly provider: string;
  readonly record: string;
  readonly seq: number;
  readonly entity: string;
  readonly at: number;
}

/**
 * Stores the notes of payloads for active records of their companies, and marks their lanes; returns the queues with
 * work. Existing notes stay unchanged.
 */
export async function writeNotes(
  tx: Tx,
  { of }: NoteRules,
  events: readonly NotedEvent[],
  now: number,
): Promise<ReadonlySet<string>> {
  if (events.length === 0) return new Set();
  const links = await tx
    .selectFrom('link')
    .select(['provider', 'record_id', 'entity'])
    .where('entity', 'in', each(tx, [...new Set(events.map(({ payload }) => payload.entityId))]))
    .where('provider', 'in', each(tx, [...of.keys()]))
    .where('state', '=', 'active')
    .execute();
  const byCompany = Map.groupBy(links, ({ provider, entity }) => `${provider} ${entity}`);
  const rows = events.flatMap((one) =>
    [...of].flatMap(([provider, rule]): NoteRow[] => {
      const records = byCompany.get(`${provider} ${one.payload.entityId}`) ?? [];
      const note = records.length === 0 ? undefined : composeNote(one, rule);
      if (note === undefined) return [];
      const { entityId: entity, timestamp } = one.payload;
      const at = Math.min(Date.parse(timestamp), now);
      return records.map(({ record_id: record }) => ({ ...note, provider, record, seq: one.seq, entity, at }));
    }),
  );
  const byQueue = Map.groupBy(rows, ({ provider }) => noteQueue(provider));
  for (const queue of [...byQueue.keys()].sort()) {
    const ids = (byQueue.get(queue) ?? []).map(({ record }) => record);
    await mark(tx, queue, ids, now);
  }
  if (rows.length > 0) await insert(tx, rows);
  return new Set(byQueue.keys());
}

async function insert(tx: Tx, rows: readonly NoteRow[]): Promise<void> {
  await sql`insert into note (provider, record_id, marker, seq, entity, subject, body, at, state)
    select each.provider, each.record, each.marker, cast(each.seq as bigint), each.entity, each.subject, each.body,
      cast(each.at as bigint), 'due'
    from ${eachRow(tx, ['provider', 'record', 'marker', 'seq', 'entity', 'subject', 'body', 'at'], rows)} where true
    on conflict (provider, record_id, marker) do nothing`.execute(tx);
}
