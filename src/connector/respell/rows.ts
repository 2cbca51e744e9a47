/** What else is stored of a record, moved to the canonical spelling of its id; where both have it, they become one. */
import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import type { Tx } from '../../store/store.ts';
import { copyOverrides } from '../follow/move-link.ts';
import { moveWritten } from '../history/written.ts';
import { editsQueue, healQueue, matchQueue, noteQueue, parentQueue } from '../names/queues.ts';

export interface Respelling {
  readonly provider: string;
  /** The id as it is stored. */
  readonly from: string;
  /** Its canonical form. */
  readonly to: string;
  readonly now: number;
}

/** The queues whose lanes are a connection's records. */
export const recordQueues = (provider: string): readonly string[] => [
  `sync:${provider}`,
  healQueue(provider),
  matchQueue(provider),
  noteQueue(provider),
  parentQueue(provider),
  editsQueue(provider),
];

/** Moves lanes: what was behind, or parked, under the other spelling is due under this one. */
export async function moveLanes(tx: Tx, { provider, from, to, now }: Respelling): Promise<void> {
  for (const queue of recordQueues(provider)) {
    const { numDeletedRows } = await tx
      .deleteFrom('lane')
      .where('queue', '=', queue)
      .where('key', '=', from)
      .executeTakeFirst();
    if (numDeletedRows > 0n) await mark(tx, queue, [to], now);
    // What a write was to replace: the record's next read still tells by it whose value it holds.
    await tx.updateTable('pending_write').set({ key: to }).where('queue', '=', queue).where('key', '=', from).execute();
  }
}

/** Moves everything but links and lanes. Idempotent. */
export async function moveRows(tx: Tx, respelling: Respelling): Promise<void> {
  const { provider, from, to } = respelling;
  await moveOverrides(tx, respelling);
  await moveWritten(tx, provider, from, to);
  await sql`update property_state as mine set trusted_at = coalesce(mine.trusted_at, old.trusted_at)
    from property_state as old
    where mine.provider = ${provider} and mine.record_id = ${to}
      and old.provider = ${provider} and old.record_id = ${from} and old.property = mine.property`.execute(tx);
  await sql`update note as mine set state = old.state, note_id = old.note_id, done_at = old.done_at
    from note as old
    where mine.provider = ${provider} and mine.record_id = ${to} and mine.state = 'due' and old.state <> 'due'
      and old.provider = ${provider} and old.record_id = ${from} and old.marker = mine.marker`.execute(tx);
  await sql`update parent as mine set
      parent_id = coalesce(mine.parent_id, old.parent_id), pending_id = coalesce(mine.pending_id, old.pending_id)
    from parent as old
    where mine.provider = ${provider} and mine.record_id = ${to}
      and old.provider = ${provider} and old.record_id = ${from}`.execute(tx);
  await moveOthers(tx, respelling, 'property_state', 'property');
  await moveOthers(tx, respelling, 'note', 'marker');
  await moveOthers(tx, respelling, 'parent', 'provider');
  await moveOthers(tx, respelling, 'scan', 'purpose');
  await moveOthers(tx, respelling, 'plan_skip', 'provider');
  for (const column of ['parent_id', 'pending_id'] as const)
    await tx
      .updateTable('parent')
      .set({ [column]: to })
      .where('provider', '=', provider)
      .where(column, '=', from)
      .execute();
  await tx
    .updateTable('history')
    .set({ record_id: to })
    .where('provider', '=', provider)
    .where('record_id', '=', from)
    .execute();
}

/** A person's words on either spelling hold for the record, as they do for two records that were merged. */
async function moveOverrides(tx: Tx, respelling: Respelling): Promise<void> {
  const { provider, to } = respelling;
  const own = await tx
    .selectFrom('override')
    .select('property')
    .where('provider', '=', provider)
    .where('record_id', '=', to)
    .executeTakeFirst();
  if (own !== undefined) await copyOverrides(tx, respelling);
  await moveOthers(tx, respelling, 'override', own === undefined ? 'property' : undefined);
}

/** Renames the rows whose `key` the record does not have yet, all others are dropped; without a key, all. */
async function moveOthers(
  tx: Tx,
  { provider, from, to }: Respelling,
  table: 'property_state' | 'note' | 'parent' | 'scan' | 'plan_skip' | 'override',
  key: string | undefined,
): Promise<void> {
  const name = sql.table(table);
  if (key !== undefined)
    await sql`update ${name} set record_id = ${to} where provider = ${provider} and record_id = ${from}
      and not exists (select 1 from ${name} as mine where mine.provider = ${provider} and mine.record_id = ${to}
        and mine.${sql.ref(key)} = ${name}.${sql.ref(key)})`.execute(tx);
  await sql`delete from ${name} where provider = ${provider} and record_id = ${from}`.execute(tx);
}
