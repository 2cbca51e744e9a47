/** What an engine would read for a statement: whether that grows with a table. */
import Database from 'better-sqlite3';
import { Client } from 'pg';
import type { Engine } from '../../src/store/store.ts';
import type { AskedStatement } from './asked-statements.ts';

/** Looks at a statement; what it reads too much of, one line each. */
export interface PlanJudge {
  excessOf(statement: AskedStatement): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** More rows in one step of a plan are those of a table that grows. Walks take pages of 5,000. */
const MOST_ROWS = 6_000;
/** An index that finds more rows for a key does not find what is asked for. */
const MOST_OF_KEY = 3_000;

export const openJudge = (engine: Engine, url: string): Promise<PlanJudge> =>
  engine === 'postgres' ? judgePostgres(url) : judgeSqlite(url);

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Node[];
}

/** Runs the statement, as it would be planned where all tables are large, and counts the rows that each step passes. */
async function judgePostgres(url: string): Promise<PlanJudge> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off');
  return {
    async excessOf({ sql, parameters }) {
      await client.query('begin');
      const { rows } = await client.query<{ 'QUERY PLAN': readonly { readonly Plan: Node }[] }>(
        `explain (analyze, format json) ${sql}`,
        [...parameters],
      );
      await client.query('rollback');
      const [found] = rows[0]?.['QUERY PLAN'] ?? [];
      return found === undefined
        ? []
        : readsOf(found.Plan)
            .filter(({ rows: read }) => read > MOST_ROWS)
            .map(({ what, rows: read }) => `${what}: ${read} rows`);
    },
    close: () => client.end(),
  };
}

function readsOf(node: Node): readonly { readonly what: string; readonly rows: number }[] {
  const passed =
    node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = {
    what: `${node['Node Type']} ${node['Relation Name']} ${node['Index Name'] ?? ''}`,
    rows: passed * node['Actual Loops'],
  };
  return [...(node['Relation Name'] === undefined ? [] : [own]), ...(node.Plans ?? []).flatMap(readsOf)];
}

interface Step {
  readonly parent: number;
  readonly detail: string;
}

/**
 * SQLite does not tell what a statement read. A step may pass many rows only if the statement ends early: it is limited,
 * goes along an index, and sorts nothing.
 */
async function judgeSqlite(file: string): Promise<PlanJudge> {
  const db = new Database(file, { readonly: true });
  const rowsOf = rowsOfKeys(db);
  const tables = new Set(db.prepare("select name from sqlite_schema where type = 'table'").pluck().all());
  return {
    async excessOf({ sql, parameters }) {
      const steps = db.prepare<unknown[], Step>(`explain query plan ${sql}`).all(...parameters);
      return steps
        .filter(({ detail, parent }) => {
          const [, how, name = '', index, terms = ''] = STEP.exec(detail) ?? [];
          const table = tableOf(sql, name);
          // A search without terms is for the least or the greatest.
          if (how === undefined || table === undefined || !tables.has(table) || (how === 'SEARCH' && terms === ''))
            return false;
          if (rowsOf(table, index, terms.split('=?').length - 1) <= MOST_OF_KEY || isBetween(terms)) return false;
          const sorts = steps.some((step) => step.parent === parent && step.detail.startsWith('USE TEMP B-TREE'));
          return sorts || !ENDS_EARLY.test(sql);
        })
        .map(({ detail }) => detail);
    },
    async close() {
      db.close();
    },
  };
}

const STEP =
  /^(SCAN|SEARCH) (\w+)(?: EXISTS)?(?: USING (?:COVERING )?(?:INDEX (\w+)|(?:INTEGER )?PRIMARY KEY))?(?: \((.*)\))?$/u;

/** It wants some rows, or the first or the last key of an index. */
const ENDS_EARLY = /\blimit\b|^select (?:min|max)\([^)]+\) as "\w+" from/u;

/** Whoever asks for what is between two keys says how much. */
const isBetween = (terms: string): boolean => />\?.*</u.test(terms);

/** The table that a statement calls so; undefined of a part of the statement. */
function tableOf(sql: string, name: string): string | undefined {
  const [, alias] = new RegExp(`(?:from|join) "?(\\w+)"? as "?${name}"?(?!\\w)`, 'u').exec(sql) ?? [];
  const table = alias ?? name;
  return new RegExp(`(?:from|join|update|into) "?${table}"?(?!\\w)`, 'u').test(sql) ? table : undefined;
}

/** How many rows an index has for one key of its first columns, at the median: of a few keys there may be many. */
function rowsOfKeys(db: Database.Database): (table: string, index: string | undefined, columns: number) => number {
  const known = new Map<string, number>();
  const namesOf = db.prepare<[string], string>('select name from pragma_index_info(?)').pluck();
  const keyOf = db.prepare<[string], string>("select name from pragma_index_list(?) where origin = 'pk'").pluck();
  const count = (table: string, names: readonly string[]): number => {
    const keys = names.length === 0 ? '' : `group by ${names.map((name) => `"${name}"`).join(', ')}`;
    const counts = db.prepare<[], number>(`select count(*) as n from "${table}" ${keys} order by n`).pluck().all();
    return counts[Math.floor(counts.length / 2)] ?? 0;
  };
  return (table, index, columns) => {
    const own = index ?? keyOf.get(table);
    // By the row's id.
    if (own === undefined && columns > 0) return 1;
    const names = own === undefined ? [] : namesOf.all(own).slice(0, columns);
    const id = `${table} ${names.join()}`;
    const rows = known.get(id) ?? count(table, names);
    known.set(id, rows);
    return rows;
  };
}
