/** Answers the queries to the emulated Datafordeler, by its schema and its rules. */
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSchema, execute, GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';
import { clockAt } from '../../../protocol/danish/clock.ts';
import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';
import { argumentBreach, type Breach, breachOf, testOf } from './rules.ts';
import { schemaText, TABLES } from './schema.ts';
import type { DafTableRow, DafTables, FeedEvent } from './tables.ts';

/** Changes later answers, for tests. */
export interface AnswerControls {
  /** The water mark; the newest event by default. */
  mark: number | undefined;
  /** Events by number that later answers lack. */
  readonly hidden: Set<number>;
  /** Entities, such as `Navn`, that answer without rows. */
  readonly silent: Set<string>;
  /** Columns that the schema loses, such as `CVR_Navn.sekvens`. */
  readonly lost: Set<string>;
  /** Answers these events instead of the tables' own, for a feed that is too long to store. */
  feed: { readonly length: number; at(number: number): FeedEvent } | undefined;
}

export interface DafAnswerOptions {
  readonly tables: DafTables;
  readonly controls: AnswerControls;
  /** How long a search without a day takes, if its filter is not a number. */
  readonly slowMs: number;
  readonly now: () => number;
}

const MOST_ROWS = 1_000;

export function createAnswers({ tables, controls, slowMs, now }: DafAnswerOptions): (body: string) => Promise<object> {
  let schema: { readonly key: string; readonly schema: GraphQLSchema } | undefined;

  function schemaNow(): GraphQLSchema {
    const key = [...controls.lost].join();
    if (schema?.key !== key) schema = { key, schema: buildSchema(schemaText(controls.lost)) };
    return schema.schema;
  }

  async function rowsOf(entity: string, asked: JsonObject): Promise<object> {
    const breach = argumentBreach(entity, asked) ?? (entity === 'CVRPerson' ? FORBIDDEN : undefined);
    if (breach !== undefined) throw new GraphQLError(breach.message, { extensions: { code: breach.code } });
    const { where, virkningstid } = asked;
    const ids = idsIn(where);
    if (ids === undefined && virkningstid === undefined && /"vaerdi"/.test(JSON.stringify(where))) await sleep(slowMs);
    if (controls.silent.has(entity)) return connection([], asked);
    const found = ids === undefined ? [...tables.rowsOf(entity)] : ids.flatMap((id) => tables.unit(entity, id));
    const test = testOf(where);
    return connection(found.filter((row) => test(row) && isValidAt(row, virkningstid)).sort(mixed), asked);
  }

  function eventsOf(asked: JsonObject): object {
    const breach = argumentBreach('Events', asked);
    if (breach !== undefined) throw new GraphQLError(breach.message, { extensions: { code: breach.code } });
    return connection(
      eventsAsked(asked['where']).filter(({ eventid }) => !controls.hidden.has(eventid)),
      asked,
    );
  }

  function eventsAsked(where: unknown): readonly FeedEvent[] {
    const { gt, lte } = isJsonObject(where) && isJsonObject(where['eventid']) ? where['eventid'] : {};
    const [from, to] = [Number(gt ?? 0) + 1, Number(lte ?? Number.MAX_SAFE_INTEGER)];
    const { feed } = controls;
    if (feed === undefined) return tables.events.slice(from - 1, to).filter((event) => testOf(where)({ ...event }));
    const last = Math.min(to, feed.length, from + MOST_ROWS - 1);
    return Array.from({ length: Math.max(0, last - from + 1) }, (_, place) => feed.at(from + place));
  }

  const roots = {
    ...Object.fromEntries(
      Object.keys(TABLES).map((entity) => [`CVR_${entity}`, (asked: JsonObject) => rowsOf(entity, asked)]),
    ),
    CVR_Events: eventsOf,
    DAF_RegisterImportStatus: () => ({
      lastEventId: controls.mark ?? controls.feed?.length ?? tables.events.length,
      lastSequenceNumber: tables.imports,
      lastUpdated: danishClock(now()),
    }),
  };

  return async function answerTo(body) {
    const { query, variables } = objectIn(body);
    try {
      const document = parse(typeof query === 'string' ? query : '');
      const breach = breachOf(document);
      if (breach !== undefined) return refusal(breach);
      const [wrong] = validate(schemaNow(), document);
      if (wrong !== undefined) return refusal({ code: 'HC0020', message: wrong.message });
      return await execute({
        schema: schemaNow(),
        document,
        rootValue: roots,
        variableValues: isJsonObject(variables) ? variables : {},
      });
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return refusal({ code: 'HC0011', message: error.message });
    }
  };
}

const FORBIDDEN: Breach = {
  code: 'AUTH_NOT_AUTHORIZED',
  message: 'The current user is not authorized to access this resource.',
};

const refusal = ({ code, message }: Breach) => ({ errors: [{ message, extensions: { code } }], data: null });

function objectIn(body: string): JsonObject {
  try {
    const json: unknown = JSON.parse(body);
    return isJsonObject(json) ? json : {};
  } catch {
    return {};
  }
}

/** The units that a filter names; undefined for any other filter. */
function idsIn(where: unknown): readonly string[] | undefined {
  if (!isJsonObject(where)) return undefined;
  const by = where['CVREnhedsId'] ?? where['id'];
  const { eq, in: many } = isJsonObject(by) ? by : {};
  if (typeof eq === 'string') return [eq];
  return Array.isArray(many) ? [...new Set(many.map(String))] : undefined;
}

function isValidAt({ virkningFra, virkningTil }: DafTableRow, time: unknown): boolean {
  if (typeof time !== 'string') return true;
  const day = time.slice(0, 10);
  return String(virkningFra ?? '') <= day && (virkningTil == null || String(virkningTil) >= day);
}

/** An order that is unrelated to time, and equal for every page. */
const mixed = (a: DafTableRow, b: DafTableRow): number =>
  String(a['datafordelerRowId']) < String(b['datafordelerRowId']) ? -1 : 1;

const cursorOf = (row: object): string =>
  Buffer.from(String(Reflect.get(row, 'eventid') ?? Reflect.get(row, 'datafordelerRowId'))).toString('base64');

function connection(rows: readonly object[], { first, after }: JsonObject): object {
  const size = typeof first === 'number' ? first : MOST_ROWS;
  const from = typeof after === 'string' ? rows.findIndex((row) => cursorOf(row) === after) + 1 : 0;
  const nodes = rows.slice(from, from + size);
  const [start, end] = [nodes[0], nodes.at(-1)].map((row) => (row === undefined ? null : cursorOf(row)));
  return {
    // The original never has a page before.
    pageInfo: { hasNextPage: rows.length > from + size, hasPreviousPage: false, startCursor: start, endCursor: end },
    nodes,
    edges: () => nodes.map((node) => ({ node, cursor: cursorOf(node) })),
  };
}

/** Danish local time that claims to be UTC, as in the original. */
const danishClock = (ms: number): string => new Date(clockAt(ms)).toISOString().replace('.000Z', '.000000Z');
