/** What is known of a record's parent follows a merge in the CRM. */
import { sql } from 'kysely';
import type { Tx } from '../../store/store.ts';

/** A record that became another one. */
export interface RecordMove {
  readonly provider: string;
  readonly from: string;
  readonly to: string;
}

/**
 * The parent that we gave a merged record is ours on the survivor, too, and a merged parent is ours as the survivor of that
 * one: the CRM moves both along.
 */
export async function carryParent(tx: Tx, entity: string, { provider, from, to }: RecordMove): Promise<void> {
  await sql`insert into parent (provider, record_id, owner, parent_id, pending_id)
    select provider, cast(${to} as text), owner, parent_id, pending_id from parent
      where provider = ${provider} and record_id = ${from}
    on conflict (provider, record_id) do update set
      parent_id = coalesce(parent.parent_id, excluded.parent_id),
      pending_id = coalesce(parent.pending_id, excluded.pending_id, excluded.parent_id)`.execute(tx);
  // Where the CRM does not move it, the merged one stays ours: the survivor is only what the CRM may hold, too.
  await tx
    .updateTable('parent')
    .set({ pending_id: to })
    .where('provider', '=', provider)
    .where('owner', '=', entity)
    .where(({ eb, and, or }) =>
      or([eb('pending_id', '=', from), and([eb('parent_id', '=', from), eb('pending_id', 'is', null)])]),
    )
    .execute();
}
