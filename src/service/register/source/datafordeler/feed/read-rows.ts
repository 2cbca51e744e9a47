/** Reads the rows of many units, entity by entity, and remembers unreadable entities. */
import { isJsonObject } from '../../../../../protocol/text/json.ts';
import { SourceError } from '../../source.ts';
import { type DafEntity, type DafRow, rowsIn } from '../rows.ts';
import { ColumnMissing, type DafClient, RootRefused, TooMuch } from './client.ts';
import { COLUMNS, MOST_IDS, type RowKey, rowsQuery } from './queries.ts';

/** Undefined: the entity cannot be read now. */
export type ReadRows = (
  entity: DafEntity,
  key: RowKey,
  keys: readonly (string | number)[],
  signal: AbortSignal,
) => Promise<readonly DafRow[] | undefined>;

export interface RowReader {
  readonly read: ReadRows;
  /** The refused entities, with the reasons. */
  refused(): ReadonlyMap<DafEntity, string>;
}

/** How long to wait before a refused entity is asked for again. */
const AGAIN_MS = 15 * 60_000;
/** No unit has so many rows. */
const MOST_PAGES = 1_000;

/** A page of an answer. Throws {@link SourceError} if it is malformed. */
export function pageIn(
  answer: unknown,
  root: string,
): { readonly nodes: readonly DafRow[]; readonly next: string | null } {
  const { nodes, pageInfo } = isJsonObject(answer) ? answer : {};
  const { hasNextPage, endCursor } = isJsonObject(pageInfo) ? pageInfo : {};
  if (!Array.isArray(nodes)) throw new SourceError(`Datafordeler answered ${root} without rows`);
  if (hasNextPage !== true) return { nodes: rowsIn(nodes), next: null };
  if (typeof endCursor !== 'string') throw new SourceError(`Datafordeler answered ${root} with a page that has no end`);
  return { nodes: rowsIn(nodes), next: endCursor };
}

export function createRowReader(client: DafClient, now: () => number): RowReader {
  const refused = new Map<DafEntity, { readonly reason: string; readonly until: number }>();
  const missing = new Map<DafEntity, Set<string>>();

  /** Leaves out columns that the schema no longer has, unless the entity needs them. */
  async function ask(entity: DafEntity, key: RowKey, variables: object, signal: AbortSignal) {
    const root = `CVR_${entity}`;
    const { needed, useful } = COLUMNS[entity];
    for (;;) {
      const gone = missing.get(entity) ?? new Set();
      const columns = [...needed, ...useful].filter((column) => !gone.has(column));
      try {
        return pageIn(await client.ask(root, rowsQuery(entity, key, columns), { ...variables }, signal), root);
      } catch (error) {
        if (!(error instanceof ColumnMissing) || gone.has(error.column)) throw error;
        if (!useful.includes(error.column)) throw new RootRefused(`${root} lost the column ${error.column}`);
        missing.set(entity, new Set([...gone, error.column]));
      }
    }
  }

  async function readAll(entity: DafEntity, key: RowKey, keys: readonly (string | number)[], signal: AbortSignal) {
    const rows: DafRow[] = [];
    let after: string | null = null;
    for (let pages = 1; ; pages++) {
      const page: { readonly nodes: readonly DafRow[]; readonly next: string | null } = await ask(
        entity,
        key,
        { keys, after },
        signal,
      );
      rows.push(...page.nodes);
      if (page.next === null) return rows;
      if (page.next === after || pages === MOST_PAGES)
        throw new SourceError(`Datafordeler answers CVR_${entity} with the same page again and again`);
      after = page.next;
    }
  }

  /** Halves a query that is too large for the server. */
  async function readHalves(
    entity: DafEntity,
    key: RowKey,
    keys: readonly (string | number)[],
    signal: AbortSignal,
  ): Promise<readonly DafRow[]> {
    try {
      return await readAll(entity, key, keys, signal);
    } catch (error) {
      if (!(error instanceof TooMuch) || keys.length === 1) throw error;
    }
    const half = Math.ceil(keys.length / 2);
    const first = await readHalves(entity, key, keys.slice(0, half), signal);
    return [...first, ...(await readHalves(entity, key, keys.slice(half), signal))];
  }

  return {
    async read(entity, key, keys, signal) {
      if ((refused.get(entity)?.until ?? 0) > now()) return undefined;
      const rows: DafRow[] = [];
      try {
        for (let from = 0; from < keys.length; from += MOST_IDS)
          rows.push(...(await readHalves(entity, key, keys.slice(from, from + MOST_IDS), signal)));
      } catch (error) {
        if (!(error instanceof RootRefused)) throw error;
        refused.set(entity, { reason: error.message, until: now() + AGAIN_MS });
        return undefined;
      }
      if (keys.length > 0) refused.delete(entity);
      return rows;
    },
    refused: () => new Map([...refused].map(([entity, { reason }]) => [entity, reason])),
  };
}
