/**
 * A pending write of a sync gets a list with a line for each property, as history has them: the name of every part, said
 * again for each property, was half of it. And SQLite keeps the rows, most of which are over a kilobyte, in pages that they
 * share.
 */
import { type ColumnBuilderCallback, sql } from 'kysely';
import type { PendingWriteTable } from '../runtime-schema.ts';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

/** One property of a write, before. */
interface OldValue {
  readonly field: string;
  readonly old: unknown;
  readonly now: unknown;
  readonly seq: number;
}

const STEP = 500;
const required: ColumnBuilderCallback = (column) => column.notNull();

export async function addPendingLines(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, wideTable } = dialect(tx, engine);
  await tx.schema.dropIndex('pending_write_check').execute();
  await tx.schema.alterTable('pending_write').renameTo('pending_write_before').execute();
  await wideTable('pending_write')
    .addColumn('queue', text, required)
    .addColumn('key', text, required)
    .addColumn('fence', integer, required)
    .addColumn('at', integer, required)
    .addColumn('detail', text, required)
    .addColumn('check_at', integer, required)
    .addColumn('answered_at', integer)
    .addPrimaryKeyConstraint('pending_write_name', ['queue', 'key', 'fence', 'at'])
    .execute();
  await tx.schema.createIndex('pending_write_check').on('pending_write').column('check_at').execute();
  for (let rows = await takeSome(tx); rows.length > 0; rows = await takeSome(tx))
    await tx
      .insertInto('pending_write')
      .values(rows.map((row) => (row.queue.startsWith('sync:') ? { ...row, detail: inLines(row.detail) } : row)))
      .execute();
  await tx.schema.dropTable('pending_write_before').execute();
}

async function takeSome(tx: Tx): Promise<readonly PendingWriteTable[]> {
  const name = sql`(queue, key, fence, at)`;
  const { rows } = await sql<PendingWriteTable>`delete from pending_write_before where ${name} in
    (select queue, key, fence, at from pending_write_before limit ${STEP})
    returning queue, key, fence, at, detail, check_at, answered_at`.execute(tx);
  return rows;
}

function inLines(detail: string): string {
  const values: Readonly<Record<string, OldValue>> = JSON.parse(detail);
  return JSON.stringify(
    Object.entries(values).map(([property, { field, old, now, seq }]) => [property, field, old, now, seq]),
  );
}
