/** Tables, columns and stored words under the names that the code has had since the first public version. */
import { sql } from 'kysely';
import type { Tx } from '../store.ts';

const COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  link: {
    wish: 'desired',
    monitored: 'observed',
    monitored_at: 'observed_at',
    monitored_error: 'observed_error',
    doubt: 'mismatch',
  },
  lane: { epoch: 'fence' },
  pending_write: { look_at: 'check_at' },
  note: { tried_at: 'attempted_at' },
  parent: { tried_id: 'pending_id' },
  alert: { told_at: 'notified_at' },
  monitor: { activated: 'enabled', activated_at: 'enabled_at', mail_rhythm: 'mail_frequency' },
};

const TABLES = { ruling: 'override', rate: 'rate_limit', keep: 'kv', census: 'scan', census_item: 'scan_item' };

/** Index → its new name, and what it is on. */
const INDEXES = [
  ['link_monitored', 'link_observed', 'link', ['provider', 'desired', 'observed']],
  ['pending_write_look', 'pending_write_check', 'pending_write', ['check_at']],
] as const;

export async function renameTables(tx: Tx): Promise<void> {
  for (const [table, columns] of Object.entries(COLUMNS)) {
    for (const [from, to] of Object.entries(columns))
      await tx.schema.alterTable(table).renameColumn(from, to).execute();
  }
  for (const [from, to] of Object.entries(TABLES)) await tx.schema.alterTable(from).renameTo(to).execute();
  for (const [from, to, table, columns] of INDEXES) {
    await tx.schema.dropIndex(from).execute();
    await tx.schema
      .createIndex(to)
      .on(table)
      .columns([...columns])
      .execute();
  }
  await sql`update lane set queue = 'poll' where queue = 'look'`.execute(tx);
  await sql`update monitor set mail_frequency = 'immediate' where mail_frequency = 'at-once'`.execute(tx);
  await sql`update mail set kind = 'immediate' where kind = 'at-once'`.execute(tx);
  await sql`update delivery set state = 'failed' where state = 'exhausted'`.execute(tx);
}
