/** Reads tables in pages along their keys, so that no statement occupies the store or this process for long. */
import { setImmediate as breathe } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { readLayout, type TableLayout } from '../../store/layout.ts';
import type { Db } from '../../store/store.ts';

export type EntityRow = Readonly<Record<string, unknown>>;

export interface StoreTables {
  readonly db: Db;
  readonly layout: ReadonlyMap<string, TableLayout>;
  readonly signal: AbortSignal;
}

export const openTables = async (db: Db, signal: AbortSignal): Promise<StoreTables> => ({
  db,
  layout: await readLayout(db),
  signal,
});

const FIRST = 500;
const MOST = 20_000;
/** The target time of a page, in ms: the next page is longer or shorter. */
const PAGE_MS = 40;

/** The rows of a table that meet the condition, whatever is written meanwhile. */
export async function* readPages(
  { db, layout, signal }: StoreTables,
  table: string,
  condition: RawBuilder<boolean>,
): AsyncGenerator<readonly EntityRow[]> {
  const keys = layout.get(table)?.keys ?? [];
  const names = sql.join(keys.map((key) => sql.ref(key)));
  const placeOf = (row: EntityRow) => sql`(${sql.join(keys.map((key) => row[key]))})`;
  let after: EntityRow | undefined;
  for (let size = FIRST; ; ) {
    signal.throwIfAborted();
    const begun = performance.now();
    const behind = after === undefined ? sql<boolean>`1 = 1` : sql<boolean>`(${names}) > ${placeOf(after)}`;
    const { rows: ends } = await sql<EntityRow>`select ${names} from ${sql.table(table)} where ${behind}
      order by ${names} limit 1 offset ${size - 1}`.execute(db);
    const [end] = ends;
    const until = end === undefined ? sql<boolean>`1 = 1` : sql<boolean>`(${names}) <= ${placeOf(end)}`;
    const { rows } = await sql<EntityRow>`select * from ${sql.table(table)}
      where ${behind} and ${until} and (${condition})`.execute(db);
    if (rows.length > 0) yield rows;
    if (end === undefined) return;
    after = end;
    const took = performance.now() - begun;
    size = Math.round(Math.min(MOST, Math.max(50, (size * PAGE_MS) / Math.max(took, PAGE_MS / 4))));
    await breathe();
  }
}

/** True if any condition is met; grouped, because an engine refuses a thousand alternatives in one expression. */
export function anyOf(conditions: readonly RawBuilder<boolean>[]): RawBuilder<boolean> {
  if (conditions.length === 0) return sql<boolean>`1 = 0`;
  if (conditions.length <= GROUP) return sql<boolean>`(${sql.join(conditions, sql` or `)})`;
  const groups = Array.from({ length: Math.ceil(conditions.length / GROUP) }, (_, at) =>
    anyOf(conditions.slice(at * GROUP, (at + 1) * GROUP)),
  );
  return anyOf(groups);
}
const GROUP = 100;
