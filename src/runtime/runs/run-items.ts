/** Items of a run: their results, and the number of each kind. */
import { sql } from 'kysely';
import { each, eachRow } from '../../store/each.ts';
import type { Db, Tx } from '../../store/store.ts';

/** The result for one item, or the expected one in a preview. */
export interface RunItem {
  readonly key: string;
  readonly kind: string;
  readonly detail: string;
}

/**
 * Stores results and replaces earlier ones, except those whose kind is `final`. The run holds their number by kind: a page
 * must not count a million of them.
 */
export async function storeItems(tx: Tx, id: number, items: readonly RunItem[], final = ''): Promise<void> {
  if (items.length === 0) return;
  const rows = items.map(({ key, kind, detail }) => ({ key, kind, detail }));
  const keys = each(tx, [...new Set(rows.map(({ key }) => key))]);
  const before = await tx
    .selectFrom('run_item')
    .select(['key', 'kind'])
    .where('run', '=', id)
    .where('key', 'in', keys)
    .execute();
  await sql`insert into run_item (run, key, kind, detail)
    select cast(${id} as bigint), each.key, each.kind, each.detail
      from ${eachRow(tx, ['key', 'kind', 'detail'], rows)} where true
    on conflict (run, key) do update set kind = excluded.kind, detail = excluded.detail
      where run_item.kind <> ${final}`.execute(tx);
  const after = new Map(rows.map(({ key, kind }) => [key, kind]));
  const counts = new Map(await countItems(tx, id));
  const add = (kind: string, count: number) => counts.set(kind, (counts.get(kind) ?? 0) + count);
  for (const { key, kind } of before)
    if (kind === final) after.delete(key);
    else add(kind, -1);
  for (const kind of after.values()) add(kind, 1);
  await storeCounts(tx, id, counts);
}

async function storeCounts(tx: Tx, id: number, counts: ReadonlyMap<string, number>): Promise<void> {
  const some = [...counts].filter(([, count]) => count > 0);
  await tx
    .updateTable('run')
    .set({ counts: JSON.stringify(Object.fromEntries(some)) })
    .where('id', '=', id)
    .execute();
}

export async function deleteItems(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('run_item').where('run', '=', id).execute();
  await storeCounts(tx, id, new Map());
}

/** The most frequent kind first. */
export async function countItems(db: Db, id: number): Promise<ReadonlyMap<string, number>> {
  const row = await db.selectFrom('run').select('counts').where('id', '=', id).executeTakeFirst();
  const counts: Readonly<Record<string, number>> = JSON.parse(row?.counts ?? '{}');
  return new Map(Object.entries(counts).toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}

/** Items by key; those of the kinds in `last` come last, one kind after the other. */
export async function readItems(
  db: Db,
  id: number,
  limit: number,
  last: readonly string[] = [],
): Promise<readonly RunItem[]> {
  const kinds = [...(await countItems(db, id)).keys()];
  const found: RunItem[] = [];
  const add = async (some: readonly string[]): Promise<void> => {
    if (some.length > 0 && found.length < limit)
      found.push(...(await firstOfKinds(db, id, some, limit - found.length)));
  };
  await add(kinds.filter((kind) => !last.includes(kind)));
  for (const kind of last) if (kinds.includes(kind)) await add([kind]);
  return found;
}

/** The first items of some kinds, from the index of each: they may be rare. */
async function firstOfKinds(db: Db, id: number, kinds: readonly string[], limit: number): Promise<readonly RunItem[]> {
  const first = kinds.map(
    (kind) => sql`select * from (select key, kind, detail from run_item
      where run = ${id} and kind = ${kind} order by kind, key limit ${limit}) as first`,
  );
  const { rows } = await sql<RunItem>`${sql.join(first, sql` union all `)} order by key limit ${limit}`.execute(db);
  return rows;
}

const itemsIn = (db: Db, id: number) =>
  db.selectFrom('run_item').select(['key', 'kind', 'detail']).where('run', '=', id);

export const pageItems = (db: Db, id: number, after: string, limit: number): Promise<readonly RunItem[]> =>
  itemsIn(db, id).where('key', '>', after).orderBy('key').limit(limit).execute();

export const readItemsOf = (db: Db, id: number, kind: string, limit: number): Promise<readonly RunItem[]> =>
  itemsIn(db, id).where('kind', '=', kind).orderBy('kind').orderBy('key').limit(limit).execute();
