/** People's edits that our writes replaced between read and write, until the next sync restores them. */
import { sql } from 'kysely';
import type { PropertyValue } from '../../../providers/provider.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { eachRow, storableJson } from '../../store/each.ts';
import type { Tx } from '../../store/store.ts';
import type { PropertyMemory } from '../decide/memory.ts';
import { type ArePartners, groupOf } from '../decide/partners.ts';

export interface OverwrittenProperty extends NonNullable<PropertyMemory['overwritten']> {
  readonly id: string;
  readonly property: string;
}

export interface ReplacedValue {
  readonly id: string;
  readonly field: string;
  readonly property: string;
  readonly value: PropertyValue;
  readonly by: PropertyValue;
  readonly isEdit: boolean;
}

/** The edits among replaced values, with the other values of their groups. */
export function overwrittenAmong(
  replaced: readonly ReplacedValue[],
  partners: () => ArePartners,
): readonly OverwrittenProperty[] {
  const edits = replaced.filter(({ isEdit }) => isEdit);
  if (edits.length === 0) return [];
  return groupOf(edits, replaced, partners()).map(({ id, property, value, by, isEdit }) => ({
    ...{ id, property, value, by },
    beside: isEdit ? undefined : true,
  }));
}

/**
 * Stores replaced edits and marks their records: if the CRM still holds our write and the policy would have kept the
 * edit, the sync restores it. Of two edits of a property, the later call wins.
 */
export async function rememberOverwritten(
  tx: Tx,
  provider: string,
  edits: readonly OverwrittenProperty[],
  now: number,
): Promise<void> {
  if (edits.length === 0) return;
  const rows = edits.map(({ id, property, ...edit }) => ({ id, property, edit: storableJson(edit) }));
  await sql`insert into property_state (provider, record_id, property, overwritten)
    select cast(${provider} as text), each.id, each.property, each.edit
    from ${eachRow(tx, ['id', 'property', 'edit'], rows)} where true
    on conflict (provider, record_id, property) do update set overwritten = excluded.overwritten`.execute(tx);
  await mark(tx, `sync:${provider}`, [...new Set(edits.map(({ id }) => id))], now);
}

/** Deletes edits that were restored or will not be; an edit stored since stays. */
export async function forgetOverwritten(
  tx: Tx,
  provider: string,
  edits: readonly OverwrittenProperty[],
): Promise<void> {
  if (edits.length === 0) return;
  const rows = edits.map(({ id, property, ...edit }) => ({ id, property, edit: storableJson(edit) }));
  await sql`update property_state set overwritten = null
    where provider = ${provider} and (record_id, property, overwritten) in
      (select each.id, each.property, each.edit from ${eachRow(tx, ['id', 'property', 'edit'], rows)})`.execute(tx);
}

/** Moves replaced edits of a merged record to the survivor, which restores them if it holds our write. */
export async function moveOverwritten(tx: Tx, provider: string, from: string, to: string): Promise<void> {
  await sql`insert into property_state (provider, record_id, property, overwritten)
    select provider, cast(${to} as text), property, overwritten from property_state
    where provider = ${provider} and record_id = ${from} and overwritten is not null
    on conflict (provider, record_id, property) do update set
      overwritten = coalesce(property_state.overwritten, excluded.overwritten)`.execute(tx);
}

export const readOverwritten = (stored: string | null): PropertyMemory['overwritten'] =>
  stored === null ? undefined : JSON.parse(stored);
