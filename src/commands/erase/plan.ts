/** Collects what an erasure looks for: the ids, names and relations of an entity, while the store still has them. */
import { canonicalEntityId } from '../../protocol/entity-id.ts';
import { isJsonObject } from '../../protocol/text/json.ts';
import { erasedWords } from '../../store/erasure/erasures.ts';
import { fold } from '../../store/erasure/name-finder.ts';
import { type ErasedWords, namesIn } from '../../store/erasure/redact.ts';
import type { Db } from '../../store/store.ts';
import { type ErasurePlan, namesInProse, namesNamesake, naming } from './find-rows.ts';
import { type EntityRow, readPages, type StoreTables } from './pages.ts';
import { PLACE_OF_TABLE, type Place, walkedColumns } from './places.ts';
import { readJson } from './stored-json.ts';
import { unitsOf } from './units.ts';

const NAME_FIELDS = ['name', 'altNames'];

/** Reads every text of the store that may name the entity. */
export async function planErasure(tables: StoreTables, entity: string): Promise<ErasurePlan> {
  const { db } = tables;
  const entities = [entity, ...(await unitsOf(db, entity))];
  const names = new Set(await ownNames(db, entities));
  const related = new Set<string>();
  for await (const { row, place, columns } of rowsNaming(tables, entities, [])) {
    for (const owner of (await place.owners?.(db, row)) ?? []) if (!entities.includes(owner)) related.add(owner);
    for (const column of columns)
      for (const name of namesIn(readJson(row[column]) ?? row[column], (id) => entities.includes(id))) names.add(name);
  }
  const usable = [...new Set([...names].map((name) => fold(name.trim())))].filter((name) => name.length > 2);
  const words = await erasedWords(db, entities, usable);
  for (const other of await namedInProse(tables, words, usable)) related.add(other);
  return { entities, names: usable, related: [...related], records: await recordsOf(db, entities) };
}

/** The entities whose data names it by name alone, except those that name another person of the same name. */
async function namedInProse(
  tables: StoreTables,
  words: ErasedWords,
  names: readonly string[],
): Promise<readonly string[]> {
  const named = new Set<string>();
  const namesakes = new Set<string>();
  if (names.length === 0) return [];
  const sources = PLACE_OF_TABLE.filter(([table]) => SOURCES.has(table));
  for await (const { row, place, columns } of rowsNaming(tables, [], names, sources)) {
    const owners = (await place.owners?.(tables.db, row)) ?? [];
    if (namesNamesake(row, columns, words)) for (const owner of owners) namesakes.add(owner);
    else if (namesInProse(row, columns, words)) for (const owner of owners) named.add(owner);
  }
  return [...named.difference(namesakes)];
}

/** The tables with statements of others about an entity; written values, notes and mails are derived from them. */
const SOURCES: ReadonlySet<string> = new Set(['receipt', 'snapshot', 'second_reading', 'news', 'fact', 'change']);

interface NamingRow {
  readonly row: EntityRow;
  readonly place: Place;
  readonly columns: readonly string[];
}

/** The rows with the number of an entity or one of the names. */
async function* rowsNaming(
  tables: StoreTables,
  entities: readonly string[],
  names: readonly string[],
  places = PLACE_OF_TABLE,
): AsyncGenerator<NamingRow> {
  for (const [table, place] of places) {
    const columns = walkedColumns(tables, table, place);
    if (columns.length === 0) continue;
    for await (const rows of readPages(tables, table, naming(place, columns, entities, names)))
      for (const row of rows) yield { row, place, columns };
  }
}

async function recordsOf(db: Db, entities: readonly string[]): Promise<readonly string[]> {
  const rows = await db.selectFrom('link').select(['provider', 'record_id']).where('entity', 'in', entities).execute();
  return rows.map(({ provider, record_id: id }) => `${provider}:${id}`).toSorted();
}

async function ownNames(db: Db, entities: readonly string[]): Promise<readonly string[]> {
  const changes = await db.selectFrom('change').select('name').where('entity', 'in', entities).execute();
  const known = await db
    .selectFrom('known_value')
    .select('value')
    .where('entity', 'in', entities)
    .where('field', 'in', NAME_FIELDS)
    .execute();
  const facts = await db
    .selectFrom('fact')
    .select('value')
    .where('entity', 'in', entities)
    .where('field', 'in', NAME_FIELDS)
    .execute();
  const snapshots = await db.selectFrom('snapshot').select('body').where('entity', 'in', entities).execute();
  const texts = (value: unknown): readonly string[] =>
    typeof value === 'string'
      ? [value]
      : Array.isArray(value)
        ? value.flatMap(texts)
        : isJsonObject(value)
          ? Object.values(value).flatMap(texts)
          : [];
  const numbers = entities.map((id) => Number(id.split('-')[2])).filter((number) => Number.isSafeInteger(number));
  const entries = await db.selectFrom('match_entry').select('body').where('number', 'in', numbers).execute();
  const indexed = entries.map(({ body }) => readJson(body)).filter(isJsonObject);
  const nameParts = snapshots.map(({ body }) => readJson(body)).filter(isJsonObject);
  return [
    ...changes.map(({ name }) => name),
    ...[...known, ...facts].flatMap(({ value }) => texts(readJson(value))),
    ...nameParts.flatMap(({ name, names, altNames }) => [name, names, altNames].flatMap(texts)),
    ...indexed.flatMap(({ name, otherNames, formerNames }) => [name, otherNames, formerNames].flatMap(texts)),
  ].filter((name) => canonicalEntityId(name) === undefined && !/^\d{4}-\d\d-\d\d/.test(name));
}
