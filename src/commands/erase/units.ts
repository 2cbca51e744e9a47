import { canonicalEntityId } from '../../protocol/entity-id.ts';
import { isJsonObject } from '../../protocol/text/json.ts';
import type { Db } from '../../store/store.ts';
import { contains } from './places.ts';
import { readJson } from './stored-json.ts';

/** The ids of a company's production units, from every place in the store; empty for other entities. */
export async function unitsOf(db: Db, entity: string): Promise<readonly string[]> {
  if (!entity.startsWith('CVR-1-')) return [];
  const snapshot = await db.selectFrom('snapshot').select('body').where('entity', '=', entity).executeTakeFirst();
  const fact = await db
    .selectFrom('fact')
    .select('value')
    .where('entity', '=', entity)
    .where('field', '=', 'productionUnits')
    .executeTakeFirst();
  const listed = [snapshot?.body, fact?.value].flatMap((text) => idsIn(readJson(text)));
  const found = [...listed, ...(await unitsThatName(db, entity))];
  return [...new Set(found.filter((id) => id.startsWith('CVR-2-')))];
}

/** The units whose own rows name the company, which may not list them yet, or no longer. */
async function unitsThatName(db: Db, entity: string): Promise<readonly string[]> {
  const number = entity.slice('CVR-1-'.length);
  const snapshots = await db
    .selectFrom('snapshot')
    .select(['entity', 'body'])
    .where('entity', 'like', 'CVR-2-%')
    .where(contains('body', `"${entity}"`))
    .execute();
  const units = snapshots.filter(({ body }) => {
    const unit = readJson(body);
    return isJsonObject(unit) && isJsonObject(unit['company']) && unit['company']['value'] === entity;
  });
  const entries = await db
    .selectFrom('match_entry')
    .select('number')
    .where(contains('body', `"company":"${number}"`))
    .execute();
  return [...units.map((unit) => unit.entity), ...entries.map((entry) => `CVR-2-${entry.number}`)].filter(
    (id) => id !== `CVR-2-${number}`,
  );
}

function idsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [canonicalEntityId(value) ?? ''];
  if (Array.isArray(value)) return value.flatMap(idsIn);
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, each]) => [...idsIn(key), ...idsIn(each)]) : [];
}
