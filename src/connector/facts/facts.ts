/** Reads facts and earlier values from the store. */
import { type FieldName, type FieldValue, GROUPS, isFieldName } from '../../../providers/fields.ts';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import { type Fact, WHOLE_ADDRESS, type Whole } from './fact.ts';

/** Unsorted; skips fields that this version does not know. */
export async function readFacts(db: Db, entities: readonly string[]): Promise<readonly Fact[]> {
  const rows = await db.selectFrom('fact').selectAll().where('entity', 'in', each(db, entities)).execute();
  return rows.flatMap(({ entity, field, value, clock, seq }) =>
    isFieldName(field) ? [{ entity, field, value: JSON.parse(value), clock, seq }] : [],
  );
}

export interface KnownFacts {
  readonly facts: ReadonlyMap<FieldName, Fact>;
  /** The newest receipt of any field, also of fields not asked for. */
  readonly newestSeq: number;
}

/**
 * By company; one without facts is missing. Reads all fields and parses few: SQLite takes as long to find some rows of
 * a company as to return all.
 */
export async function readKnownFacts(
  db: Db,
  entities: readonly string[],
  fields: readonly FieldName[],
): Promise<ReadonlyMap<string, KnownFacts>> {
  const rows = await db.selectFrom('fact').selectAll().where('entity', 'in', each(db, entities)).execute();
  const wanted = new Map<string, FieldName>(fields.map((field) => [field, field]));
  const all = new Map<string, { readonly facts: Map<FieldName, Fact>; newestSeq: number }>();
  for (const { entity, field: name, value, clock, seq } of rows) {
    const known = all.get(entity) ?? { facts: new Map(), newestSeq: 0 };
    all.set(entity, known);
    known.newestSeq = Math.max(known.newestSeq, seq);
    const field = wanted.get(name);
    if (field !== undefined) known.facts.set(field, { entity, field, value: JSON.parse(value), clock, seq });
  }
  return all;
}

export async function readKnownValues(
  db: Db,
  entities: readonly string[],
  fields: readonly FieldName[],
): Promise<(entity: string, field: FieldName) => readonly FieldValue[]> {
  const rows = await db
    .selectFrom('known_value')
    .select(['entity', 'field', 'value'])
    .where('entity', 'in', each(db, entities))
    .where('field', 'in', each(db, fields))
    .execute();
  const byKey = Map.groupBy(rows, (row) => `${row.entity} ${row.field}`);
  return (entity, field) => (byKey.get(`${entity} ${field}`) ?? []).map((row): FieldValue => JSON.parse(row.value));
}

/** All known register addresses, by company; none if no address field is asked for. */
export async function readKnownAddresses(
  db: Db,
  entities: readonly string[],
  fields: readonly FieldName[],
): Promise<(entity: string) => readonly Whole[]> {
  if (!fields.some((field) => PARTS.has(field))) return () => [];
  const rows = await db
    .selectFrom('known_value')
    .select(['entity', 'value'])
    .where('entity', 'in', each(db, entities))
    .where('field', '=', WHOLE_ADDRESS)
    .execute();
  const byEntity = Map.groupBy(rows, (row) => row.entity);
  return (entity) => (byEntity.get(entity) ?? []).map((row): Whole => JSON.parse(row.value));
}

const PARTS: ReadonlySet<FieldName> = new Set(GROUPS.address);
