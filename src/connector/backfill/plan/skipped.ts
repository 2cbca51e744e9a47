/** Records that a person skipped in a plan stay skipped, for as long as they hold the same number. */

import { sql } from 'kysely';
import { each, eachRow } from '../../../store/each.ts';
import { withoutErased } from '../../../store/erasure/erasures.ts';
import type { Db, Tx } from '../../../store/store.ts';

/** For people. */
export const SKIPPED = 'a person skipped it in an earlier plan: link it in a plan to take that back';

/** Remembers a page of a plan: what it skips, but for erased companies, and what it links after all. */
export async function rememberSkips(
  tx: Tx,
  provider: string,
  skips: readonly { readonly record: string; readonly entity: string }[],
  links: readonly string[],
): Promise<void> {
  if (links.length > 0)
    await tx
      .deleteFrom('plan_skip')
      .where('provider', '=', provider)
      .where('record_id', 'in', each(tx, links))
      .execute();
  const kept = await withoutErased(tx, skips, ({ entity }) => entity);
  if (kept.length === 0) return;
  await sql`insert into plan_skip (provider, record_id, entity)
    select cast(${provider} as text), each.record, each.entity
    from ${eachRow(tx, ['record', 'entity'], kept)} where true
    on conflict (provider, record_id) do update set entity = excluded.entity`.execute(tx);
}

/** The companies that a person would not have these records linked to, by record id. */
export async function readSkips(
  db: Db,
  provider: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('plan_skip')
    .select(['record_id', 'entity'])
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .execute();
  return new Map(rows.map((row) => [row.record_id, row.entity]));
}
