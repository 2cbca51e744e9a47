/** Our last written values of a record: one row a record, since a sync reads and writes all of them. */
import { sql } from 'kysely';
import type { PropertyValue } from '../../../providers/provider.ts';
import { each, eachRow, storableJson } from '../../store/each.ts';
import { type Db, engineOf, type Tx } from '../../store/store.ts';

export interface WrittenValue {
  readonly value: PropertyValue;
  readonly at: number;
  readonly stored?: PropertyValue | undefined;
}

export type WrittenValues = ReadonlyMap<string, WrittenValue>;

export interface WrittenProperty extends WrittenValue {
  readonly id: string;
  readonly property: string;
}

/**
 * Property → value, time, and the value that the CRM stored. A list, because a JSON merge treats null in an object as
 * absent.
 */
type StoredValues = Readonly<Record<string, readonly [PropertyValue, number, PropertyValue?]>>;

/** By record; missing if cvrsync never wrote to it. */
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
    Object.entries(stored).map(([property, [value, at, held]]) => [property, { value, at, stored: held }]),
  );
}

/** Stores written values; other properties keep theirs. */
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

/** Copies written values of a merged record to its survivor; the newer of two values wins. */
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
