/**
 * Walks every text column of the store and finds the rows that stand for an entity, the rows of others that name it,
 * and what remains of these without it. `erase` changes what it finds, `export` prints it.
 */
import { type RawBuilder, sql } from 'kysely';
import { unescaped } from '../../store/erasure/name-finder.ts';
import { type ErasedWords, namesAnother, redact } from '../../store/erasure/redact.ts';
import { anyOf, type EntityRow, readPages, type StoreTables } from './pages.ts';
import { contains, numbersOf, type Place, walkedColumns } from './places.ts';
import { readJson } from './stored-json.ts';

/** A row, and its new columns; undefined columns delete it. */
export interface RowChange {
  readonly row: EntityRow;
  readonly columns: EntityRow | undefined;
}

export interface ErasurePlan {
  /** The entity and, for a company, its production units: canonical ids. */
  readonly entities: readonly string[];
  /** Case-folded. */
  readonly names: readonly string[];
  /** Other entities with a row that names one by its id: their other rows may contain only its name. */
  readonly related: readonly string[];
  /** Its records, such as `hubspot:123`: a person erases them in the CRM. */
  readonly records: readonly string[];
}

export interface Walk extends StoreTables {
  readonly plan: ErasurePlan;
  readonly words: ErasedWords;
}

export async function* findOwn(walk: Walk, table: string, place: Place): AsyncGenerator<readonly RowChange[]> {
  for await (const rows of readPages(walk, table, ownOf(walk, place)))
    yield rows.map((row) => ({ row, columns: undefined }));
}

const ownOf = ({ plan }: Walk, { own }: Place): RawBuilder<boolean> => anyOf(plan.entities.map(own));

export async function* findNaming(walk: Walk, table: string, place: Place): AsyncGenerator<readonly RowChange[]> {
  const columns = walkedColumns(walk, table, place);
  const { entities, names } = walk.plan;
  if (columns.length === 0) return;
  const ofOthers = sql<boolean>`(${naming(place, columns, entities, names)}) and (${ownOf(walk, place)}) is not true`;
  for await (const rows of readPages(walk, table, ofOthers)) {
    const changes: RowChange[] = [];
    for (const row of rows) {
      const left = await leftOf(walk, place, row, columns);
      if (Object.keys(left).length > 0) changes.push({ row, columns: changeOf(place, row, left) });
    }
    if (changes.length > 0) yield changes;
  }
}

/** The rows that contain the number or a name of an entity, or a longer word: an engine knows no words. */
export function naming(
  { except = sql<boolean>`1 = 0` }: Place,
  columns: readonly string[],
  entities: readonly string[],
  names: readonly string[],
): RawBuilder<boolean> {
  const numbers = numbersOf(entities).flatMap((number) => [number, ...spacedForms(number)]);
  const others = entities.filter((entity) => numbersOf([entity]).length === 0);
  const texts = [...numbers, ...others, ...names];
  const found = anyOf(columns.flatMap((column) => texts.map((text) => contains(column, text))));
  return sql`(${found}) and not (${except})`;
}

/** A company's number in pairs, as people write it. */
const spacedForms = (number: string): readonly string[] =>
  number.length === 8 ? [' ', '.'].map((blank) => (number.match(/\d\d/g) ?? []).join(blank)) : [];

async function leftOf(
  { db, plan, words }: Walk,
  { owners }: Place,
  row: EntityRow,
  columns: readonly string[],
): Promise<EntityRow> {
  const byId = withoutWords(row, columns, words, false);
  const byName = withoutWords(row, columns, words, true);
  if (owners === undefined || Object.keys(byName).length === 0) return byName;
  const isRelated = (await owners(db, row)).some((owner) => plan.related.includes(owner));
  return isRelated ? byName : byId;
}

/** Fields of facts that hold the company's own names. */
const OWN_NAMES = new Set<unknown>(['name', 'altNames']);

function withoutWords(row: EntityRow, columns: readonly string[], words: ErasedWords, names: boolean): EntityRow {
  const left = columns.flatMap((column): readonly [string, unknown][] => {
    const text = row[column];
    if (typeof text !== 'string') return [];
    const json = readJson(text);
    const isJson = typeof json === 'object' && json !== null;
    const value = isJson ? json : unescaped(text);
    const found = redact(value, words, { names: names && !OWN_NAMES.has(row['field']) });
    const before = isJson ? JSON.stringify(json) : value;
    const after = isJson ? JSON.stringify(found) : found;
    return after === before ? [] : [[column, after]];
  });
  return Object.fromEntries(left);
}

/** The erasure's change to a row of others. */
function changeOf({ others }: Place, row: EntityRow, left: EntityRow): EntityRow | undefined {
  if (others === 'redact') return left;
  if (others === 'clear') return Object.fromEntries(Object.keys(left).map((column) => [column, null]));
  return others === 'shorten' ? shortened(row, left) : undefined;
}

/** The lists without the parts that name the entity; undefined if nothing is left, or a column is not a list. */
function shortened(row: EntityRow, left: EntityRow): EntityRow | undefined {
  const lists = Object.entries(left).map(([column, text]): readonly [string, readonly unknown[]] => {
    const before = readJson(row[column]);
    const after = readJson(text);
    if (!Array.isArray(before) || !Array.isArray(after)) return [column, []];
    return [column, before.filter((each, at) => JSON.stringify(each) === JSON.stringify(after[at]))];
  });
  if (lists.some(([, list]) => list.length === 0)) return undefined;
  return Object.fromEntries(lists.map(([column, list]) => [column, JSON.stringify(list)]));
}

/** Whether a row gives the name of an entity to another person. */
export const namesNamesake = (row: EntityRow, columns: readonly string[], words: ErasedWords): boolean =>
  columns.some((column) => namesAnother(readJson(row[column]), words));

/** Whether a row names an entity by name alone. */
export const namesInProse = (row: EntityRow, columns: readonly string[], words: ErasedWords): boolean =>
  Object.keys(withoutWords(row, columns, words, true)).length > 0;
