/** What an erasure looks for: the ids, names and relations of an entity, read while the store still holds them. */
import { canonicalEntityId } from '../../protocol/entity-id.ts';
import { isJsonObject } from '../../protocol/text/json.ts';
import { namesIn } from '../../store/erasure/redact.ts';
import type { Db } from '../../store/store.ts';
import { contains, numbersOf, PLACE_OF_TABLE, type Place, select } from '../export/kept-rows.ts';
import { readJson } from '../export/stored-json.ts';
import { unitsOf } from '../export/units.ts';
import { fold } from '../export/words.ts';

/** Whom an erasure takes out, and by what they are found. */
export interface ErasurePlan {
  /** The entity and, of a company, its production units: canonical ids. */
  readonly entities: readonly string[];
  /** Folded. */
  readonly names: readonly string[];
  /** Those of whom a row names one of the entities by id: other rows of theirs may name it by name alone. */
  readonly related: readonly string[];
  /** Its records, `hubspot:123`: a person erases them in the CRM. */
  readonly records: readonly string[];
}

export type EntityRow = Readonly<Record<string, unknown>>;

const NAME_FIELDS = ['name', 'altNames'];

/** Reads every text of the store that may name the entity. */
export async function planErasure(db: Db, entity: string, signal: AbortSignal): Promise<ErasurePlan> {
  const entities = [entity, ...(await unitsOf(db, entity))];
  const names = new Set(await ownNames(db, entities));
  const related = new Set<string>();
  for (const [table, place] of PLACE_OF_TABLE) {
    signal.throwIfAborted();
    if (place.mentions === undefined) continue;
    const rows = await rowsNaming(db, table, place, entities);
    for (const owner of rows.map((row) => row['entity']))
      if (typeof owner === 'string' && !entities.includes(owner)) related.add(owner);
    for (const name of rows.flatMap((row) => namesInRow(row, place, entities))) names.add(name);
  }
  const usable = [...names].map((name) => fold(name.trim())).filter((name) => name.length > 2);
  return { entities, names: [...new Set(usable)], related: [...related], records: await recordsOf(db, entities) };
}

const namesInRow = (row: EntityRow, { mentions = [] }: Place, entities: readonly string[]): readonly string[] =>
  mentions.flatMap((column) => namesIn(readJson(row[column]), (id) => entities.includes(id)));

/** The rows whose columns have one of the texts in them; where they hold documents of the register, also the number of an id. */
export async function rowsNaming(
  db: Db,
  table: string,
  { mentions = [], documents = [] }: Place,
  texts: readonly string[],
): Promise<readonly EntityRow[]> {
  const having = (columns: readonly string[], words: readonly string[]) =>
    columns.flatMap((column) => words.map((word) => contains(column, word)));
  return select(db, table, [...having(mentions, texts), ...having(documents, numbersOf(texts))]);
}

async function recordsOf(db: Db, entities: readonly string[]): Promise<readonly string[]> {
  const rows = await db.selectFrom('link').select(['provider', 'record_id']).where('entity', 'in', entities).execute();
  return rows.map(({ provider, record_id: id }) => `${provider}:${id}`).toSorted();
}

/** What the register called the entities, now and before. */
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
