/** Queries for what is due to a monitor's webhook. */
import { sql } from 'kysely';
import { each } from '../../store/each.ts';
import { hasNoRow } from '../../store/has-row.ts';
import type { Db } from '../../store/store.ts';
import type { Secrets } from '../keys/secrets.ts';
import type { Monitor } from '../monitors/monitor.ts';
import { type MonitorRow, readMonitor } from '../monitors/monitor-row.ts';

/** The oldest due delivery of a company: later ones wait for it. */
export interface Head {
  readonly seq: number;
  readonly entity: string;
  readonly change: number;
  readonly events: string;
  readonly attempts: number;
  readonly replayed_from: number | null;
  readonly created_at: number;
  /** Whether another delivery of the company waits: 0 or 1. */
  readonly more: number;
}

/** Of a due delivery `head`: no older one of its company waits. */
export const IS_HEAD = hasNoRow(sql`(select 1 from delivery as older where older.monitor = head.monitor
  and older.entity = head.entity and older.state = 'due' and older.seq < head.seq limit 1)`);

/** The heads due at `now`, the longest waiting first. */
export async function dueHeads(db: Db, monitor: string, now: number, limit: number): Promise<readonly Head[]> {
  const { rows } = await sql<Head>`
    select seq, entity, change, events, attempts, replayed_from, created_at,
      case when exists (select 1 from delivery as later where later.monitor = head.monitor
        and later.entity = head.entity and later.state = 'due' and later.seq > head.seq) then 1 else 0 end as more
    from delivery as head
    where head.monitor = ${monitor} and head.state = 'due' and head.next_at <= ${now} and ${IS_HEAD}
    order by head.next_at, head.seq limit ${limit}`.execute(db);
  return rows;
}

export async function loadMonitors(
  db: Db,
  secrets: Secrets,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Monitor>> {
  const rows: readonly MonitorRow[] = await db
    .selectFrom('monitor')
    .selectAll()
    .where('id', 'in', each(db, ids))
    .execute();
  return new Map(rows.map((row) => [row.id, readMonitor(row, secrets)]));
}
