/** Which rows an erasure changes, and how: the rows that stand for the entity go, those of others are left without it. */
import type { RawBuilder } from 'kysely';
import { redact } from '../../store/erasure/redact.ts';
import type { Db } from '../../store/store.ts';
import { type Place, select } from '../export/kept-rows.ts';
import { readJson } from '../export/stored-json.ts';
import { fold, hasWord, placesOf } from '../export/words.ts';
import { type EntityRow, type ErasurePlan, rowsNaming } from './plan.ts';

/** A row as it is, and the columns that it gets; it is deleted where there are none. */
export interface RowChange {
  readonly row: EntityRow;
  readonly columns: EntityRow | undefined;
}

/** How the rows of others are changed. */
export interface ErasureWords {
  readonly plan: ErasurePlan;
  aliasOf(entity: string): string | undefined;
  /** Stands for a name. */
  readonly erased: string;
}

/** The rows of others that name the entity. */
export async function findRows(
  db: Db,
  table: string,
  place: Place,
  words: ErasureWords,
): Promise<readonly RowChange[]> {
  const { entities, names, related } = words.plan;
  const numbers = entities.map(numberOf);
  const rows = [...(await rowsNaming(db, table, place, entities))];
  const { mentions = [], documents = [], text } = place;
  if (text === 'everywhere') rows.push(...(await rowsNaming(db, table, place, [...numbers, ...names])));
  if (text === 'related') for (const other of related) rows.push(...(await select(db, table, [place.own(other)])));
  const isNamed = (value: unknown): boolean =>
    typeof value === 'string' &&
    (namesById(value, entities) ||
      (text !== undefined && hasWord(value, names)) ||
      (text === 'everywhere' && hasWord(value, numbers)));
  const isNumbered = (value: unknown): boolean => typeof value === 'string' && hasWord(value, numbers);
  const distinct = new Map(rows.map((row) => [JSON.stringify(row), row]));
  return [...distinct.values()].flatMap((row) => {
    const named = mentions.filter(
      (column) => isNamed(row[column]) || (documents.includes(column) && isNumbered(row[column])),
    );
    if (named.length === 0) return [];
    if (place.others === 'shorten') return [{ row, columns: shortened(row, named, isNamed) }];
    if (place.others === 'redact') return redacted(row, named, words, text !== undefined);
    const columns = place.others === 'clear' ? Object.fromEntries(named.map((column) => [column, null])) : undefined;
    return [{ row, columns }];
  });
}

/** Its number in the register. */
const numberOf = (entity: string): string => entity.split('-').slice(2).join('-');

/** The conditions of the rows that stand for any of the entities. */
export const ownRows = ({ own }: Place, { entities }: ErasurePlan): readonly RawBuilder<boolean>[] => entities.map(own);

function redacted(
  row: EntityRow,
  named: readonly string[],
  words: ErasureWords,
  isProse: boolean,
): readonly RowChange[] {
  const changed = named.flatMap((column): readonly [string, unknown][] => {
    const text = String(row[column]);
    const json = readJson(text);
    const value = redact(typeof json === 'object' ? json : text, words.aliasOf);
    const stored = typeof value === 'string' ? value : JSON.stringify(value);
    const after = isProse ? withoutWords(stored, [...words.plan.names, ...words.plan.entities], words.erased) : stored;
    return after === text ? [] : [[column, after]];
  });
  return changed.length === 0 ? [] : [{ row, columns: Object.fromEntries(changed) }];
}

/** The columns' lists without what names the entity; undefined where nothing is left, or a column is no list. */
function shortened(
  row: EntityRow,
  named: readonly string[],
  isNamed: (text: string) => boolean,
): EntityRow | undefined {
  const left = named.map((column): readonly [string, readonly unknown[]] => {
    const list = readJson(row[column]);
    return [column, Array.isArray(list) ? list.filter((each) => !isNamed(JSON.stringify(each))) : []];
  });
  if (left.some(([, list]) => list.length === 0)) return undefined;
  return Object.fromEntries(left.map(([column, list]) => [column, JSON.stringify(list)]));
}

/** An id is followed by no further digit: one may begin as another does. */
const namesById = (text: string, entities: readonly string[]): boolean => hasWord(text, entities);

function withoutWords(text: string, words: readonly string[], instead: string): string {
  let left = text;
  for (const word of words) {
    const folded = fold(word);
    const places = [...placesOf(fold(left), folded)].reverse();
    if (places.length > 0) left = left.normalize('NFC');
    for (const at of places) left = left.slice(0, at) + instead + left.slice(at + folded.length);
  }
  return left;
}
