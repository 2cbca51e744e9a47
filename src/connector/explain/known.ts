/** What a record held as far as cvrsync knows, for when its CRM does not answer. */
import type { FieldName } from '../../../providers/fields.ts';
import type { PropertyValue } from '../../../providers/provider.ts';
import type { Db } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { readWritten } from '../history/written.ts';

/** The value of one property. */
export interface KnownValue {
  readonly field: FieldName;
  readonly property: string;
  readonly value: PropertyValue;
  /** It differs from the register's value, and stays. */
  readonly isKept: boolean;
}

/** In the order of the mapping: a difference that is kept, or else what cvrsync wrote last. Two reads by key. */
export async function readKnown(
  db: Db,
  { name, mapping }: Pick<Crm, 'name' | 'mapping'>,
  id: string,
): Promise<readonly KnownValue[]> {
  const written = (await readWritten(db, name, [id])).get(id);
  const rows = await db
    .selectFrom('property_state')
    .select(['property', 'kept'])
    .where('provider', '=', name)
    .where('record_id', '=', id)
    .where('kept', 'is not', null)
    .execute();
  const kept = new Map(rows.map((row) => [row.property, row.kept]));
  return mapping.flatMap(({ field, property }): readonly KnownValue[] => {
    const text = kept.get(property) ?? undefined;
    if (text !== undefined) return [{ field, property, value: JSON.parse(text), isKept: true }];
    const own = written?.get(property);
    if (own === undefined) return [];
    return [{ field, property, value: own.stored === undefined ? own.value : own.stored, isKept: false }];
  });
}
