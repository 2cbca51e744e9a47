/** The store on PostgreSQL: many replicas may share it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import { Client, DatabaseError, Pool, type PoolClient, types } from 'pg';
import { errorText } from '../../protocol/text/error-text.ts';
import type { StoreSchema } from '../schema.ts';
import type { Store } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { adviceFor, withFullCheck } from './postgres-advice.ts';
import { openPresence, readPresent } from './postgres-presence.ts';
import { requireUsable } from './postgres-usable.ts';

const INT8 = 20;
const TRIES = 5;

/** Connections that a daemon keeps if nothing else is said. */
const CONNECTIONS = 10;

/**
 * What each connection begins with: a frozen process of ours must not hold locks for ever, and with `off` a commit returns
 * before it is on disk, so that an answered webhook could be lost. PgBouncer refuses most settings at the start of a session.
 */
const SET_UP = `select set_config('idle_in_transaction_session_timeout', '15s', false),
  case current_setting('synchronous_commit') when 'off' then set_config('synchronous_commit', 'on', false) end`;

export interface PostgresOptions {
  /** Of the pool. */
  readonly connections?: number | undefined;
  /** How the server's views name our sessions, unless the address does. */
  readonly application?: string | undefined;
}

const connectionTo = (url: string, application = 'cvrsync') => ({
  connectionString: withFullCheck(url),
  application_name: application,
  connectionTimeoutMillis: 5_000,
  // A server that stopped answering must not hold a caller.
  query_timeout: 60_000,
  keepAlive: true,
});

/** Opens a pool on the database at `url`. Connects on first use. */
export function openPostgres(url: string, { connections = CONNECTIONS, application }: PostgresOptions = {}): Store {
  const pool = new Pool({
    ...connectionTo(url, application),
    max: connections,
    types: {
      // Every 64-bit integer of ours is a time, a counter or a 52-bit fence: exact as a number.
      getTypeParser: (oid, format) => (oid === INT8 ? Number : types.getTypeParser(oid, format ?? 'text')),
    },
  });
  // A connection that dies between two statements reports here; the next statement on it fails, which is where it counts.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  const told = new WeakMap<PoolClient, PoolClient>();
  const connect = () => connectTo(pool, url, told);
  const db = new Kysely<StoreSchema>({
    dialect: new PostgresDialect({
      pool: { connect, end: () => pool.end(), options: pool.options },
      onCreateConnection: async (connection) => {
        await connection.executeQuery(CompiledQuery.raw(SET_UP));
      },
    }),
  });

  const presence = openPresence(async () => {
    const client = new Client(connectionTo(url, application));
    client.on('error', () => {});
    await client.connect().catch((error: unknown) => Promise.reject(unreachable(url, error)));
    return client;
  });

  return {
    db,
    engine: 'postgres',
    async write(work) {
      for (let tries = 1; ; tries++) {
        try {
          return await db.transaction().setIsolationLevel('read committed').execute(work);
        } catch (error) {
          if (tries === TRIES || !isRepeatable(error)) throw error;
          await sleep(Math.random() * 20 * 2 ** tries);
        }
      }
    },
    check: () => requireUsable(connect),
    async ping() {
      await sql`select 1`.execute(db);
    },
    async backup() {
      throw new Error('A PostgreSQL store is backed up with pg_dump: run pg_dump --format=custom on its database');
    },
    async claimDaemon() {
      await presence.claim();
    },
    get holder() {
      return presence.holder;
    },
    async livingDaemons() {
      return readPresent(db);
    },
    // Its own vacuum does it, page by page.
    async compact() {},
    noteSeen() {},
    async checkpoint() {},
    async walBytes() {
      return undefined;
    },
    async freeBytes() {
      return undefined;
    },
    async sizeBytes() {
      const { rows } = await sql<{
        size: number;
      }>`select pg_database_size(current_database()) as size`.execute(db);
      return Number(rows[0]?.size ?? 0);
    },
    async close() {
      await presence.close();
      await db.destroy();
      if (!pool.ended) await pool.end();
    },
  };
}

/** Deadlock or serialisation failure: PostgreSQL rolled us back so that others could go on. */
function isRepeatable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === '40P01' || code === '40001';
}

/** A connection of the pool, the same for the same one in `told`: what fails between us and the server is thrown as the store's. */
async function connectTo(pool: Pool, url: string, told: WeakMap<PoolClient, PoolClient>): Promise<PoolClient> {
  const client = await pool.connect().catch((error: unknown) => Promise.reject(unreachable(url, error)));
  const known = told.get(client);
  if (known !== undefined) return known;
  const telling: PoolClient = new Proxy<PoolClient>(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(value, target, given);
        if (name !== 'query' || !(answer instanceof Promise)) return answer;
        return answer.catch((error: unknown) => Promise.reject(asStores(error)));
      };
    },
  });
  told.set(client, telling);
  return telling;
}

/**
 * Of SQLSTATE only a lost or refused connection, and a server that stops, is full, fails, or is a standby: the other classes
 * are about a statement.
 */
const UNREACHABLE = /^(08|53|57P0|57014|58|25006|25P03)/;

function asStores(error: unknown): unknown {
  if (error instanceof DatabaseError && !UNREACHABLE.test(error.code ?? '')) return error;
  return new StoreError(`did not answer: ${wordsOf(error)}`, error);
}

function unreachable(url: string, error: unknown): StoreError {
  return new StoreError(`at ${placeOf(url)} cannot be reached (${wordsOf(error)}): ${adviceFor(error)}`, error);
}

/** Host, port and database; no user and no password. */
function placeOf(url: string): string {
  try {
    const { hostname, port, pathname, searchParams } = new URL(url);
    return `${searchParams.get('host') ?? hostname}${port === '' ? '' : `:${port}`}${pathname}`;
  } catch {
    return 'its address';
  }
}

/** node-postgres throws several at once if a name has several addresses, without a message. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(wordsOf).join('; ');
  return errorText(error);
}
