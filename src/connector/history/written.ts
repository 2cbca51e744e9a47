/** What we wrote last into the properties of a record: one row a record, since a sync reads and writes all of them at once. */
import { sql } from 'kysely';
import type { PropertyValue } from '../../../providers/provider.ts';
import { each, eachRow, storableJson } from '../../store/each.ts';
import { type Db, engineOf, type Tx } from '../../store/store.ts';

export interface WrittenValue {
  readonly value: PropertyValue;
  /** Ms since 1970. */
  readonly at: number;
  /** What the CRM made of it, where that is another value. */
  readonly stored?: PropertyValue;
}

/** By property. */
export type WrittenValues = ReadonlyMap<string, WrittenValue>;

/** A value that was written into a property of a record. */
export interface WrittenProperty extends WrittenValue {
  readonly id: string;
  readonly property: string;
}

/**
 * As it is stored: property → value, time, and what the CRM made of the value. In a list, since a merge of JSON takes a null
 * in an object for an absence.
 */
type StoredValues = Readonly<Record<string, readonly [PropertyValue, number, PropertyValue?]>>;

/** By record; one that we never wrote to is missing. */
export async function readWritten(
  db: Db,
  provider: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, WrittenValues>> {
  const rows = await db
    .selectFrom('written')
    .select(['record_id', 'properties'])
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .execute();
  return new Map(rows.map(({ record_id, properties }) => [record_id, valuesIn(properties)]));
}

function valuesIn(properties: string): WrittenValues {
  const stored: StoredValues = JSON.parse(properties);
  return new Map(
    Object.entries(stored).map(([property, [value, at, held]]) => [
      property,
      { value, at, ...(held !== undefined && { stored: held }) },
    ]),
  );
}

/** Remembers values that were written; what was written into other properties stays known. */
export async function rememberWritten(tx: Tx, provider: string, written: readonly WrittenProperty[]): Promise<void> {
  if (written.length === 0) return;
  const rows = [...Map.groupBy(written, ({ id }) => id)].map(([id, own]) => ({ id, properties: storedFrom(own) }));
  const merged =
    engineOf(tx) === 'postgres'
      ? sql`cast(cast(written.properties as jsonb) || cast(excluded.properties as jsonb) as text)`
      : sql`json_patch(written.properties, excluded.properties)`;
  await sql`insert into written (provider, record_id, properties)
    select cast(${provider} as text), each.id, each.properties
    from ${eachRow(tx, ['id', 'properties'], rows)} where true
    on conflict (provider, record_id) do update set properties = ${merged}`.execute(tx);
}

const storedFrom = (written: readonly WrittenProperty[]): string =>
  storableJson(
    Object.fromEntries(written.map(({ property, ...value }) => [property, asStored(value)])) satisfies StoredValues,
  );

const asStored = ({ value, at, stored }: WrittenValue): StoredValues[string] =>
  stored === undefined ? [value, at] : [value, at, stored];

/** Adds what is known of a record to what is known of the one it was merged into; of two values the newer one counts. */
export async function copyWritten(tx: Tx, provider: string, from: string, to: string): Promise<void> {
  const known = await readWritten(tx, provider, [from, to]);
  const own = known.get(to);
  const newer = [...(known.get(from) ?? [])].filter(([property, { at }]) => at > (own?.get(property)?.at ?? -1));
  await rememberWritten(
    tx,
    provider,
    newer.map(([property, value]) => ({ id: to, property, ...value })),
  );
}
