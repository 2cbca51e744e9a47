/** Edits of people that writes of ours went over between our read and the write, until the next sync puts them back. */
import { sql } from 'kysely';
import type { PropertyValue } from '../../../providers/provider.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { eachRow, storableJson } from '../../store/each.ts';
import type { Tx } from '../../store/store.ts';
import type { PropertyMemory } from '../decide/memory.ts';
import { type ArePartners, groupOf } from '../decide/partners.ts';

/** A property of a record, and what a person had written into it when a write of ours went over it. */
export interface OverwrittenProperty extends NonNullable<PropertyMemory['overwritten']> {
  readonly id: string;
  readonly property: string;
}

/** A value of a record that a write of ours replaced, and what the CRM held of that write then. */
export interface ReplacedValue {
  readonly id: string;
  readonly field: string;
  readonly property: string;
  readonly value: PropertyValue;
  readonly by: PropertyValue;
  /** A person wrote it between our read and that write. */
  readonly isEdit: boolean;
}

/** The edits among the values of a record that were replaced, with what stood beside them in their groups. */
export function overwrittenAmong(
  replaced: readonly ReplacedValue[],
  arePartners: ArePartners,
): readonly OverwrittenProperty[] {
  const edits = replaced.filter(({ isEdit }) => isEdit);
  return groupOf(edits, replaced, arePartners).map(({ id, property, value, by, isEdit }) => ({
    ...{ id, property, value, by },
    ...(!isEdit && { beside: true }),
  }));
}

/**
 * Remembers edits that writes of ours went over, and has their records synced: where the CRM still holds that write, and the
 * policy would have kept the edit, the sync writes the edit back. Of two edits of a property the later call counts.
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

/** Forgets edits that were put back, or are not to be; one that was remembered since stays. */
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

/** Lets what was written over in a record that was merged come back on the one that is left, where that holds our write. */
export async function moveOverwritten(tx: Tx, provider: string, from: string, to: string): Promise<void> {
  await sql`insert into property_state (provider, record_id, property, overwritten)
    select provider, cast(${to} as text), property, overwritten from property_state
    where provider = ${provider} and record_id = ${from} and overwritten is not null
    on conflict (provider, record_id, property) do update set
      overwritten = coalesce(property_state.overwritten, excluded.overwritten)`.execute(tx);
}

/** An edit as the store has it. */
export const readOverwritten = (stored: string | null): PropertyMemory['overwritten'] =>
  stored === null ? undefined : JSON.parse(stored);
