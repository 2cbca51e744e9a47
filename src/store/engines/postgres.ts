/** The store on PostgreSQL, which many replicas may share. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import { Client, DatabaseError, Pool, type PoolClient, types } from 'pg';
import { errorText } from '../../protocol/text/error-text.ts';
import type { StoreSchema } from '../schema.ts';
import { placeOf, type Store } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { adviceFor, withFullCheck } from './postgres-advice.ts';
import { openPresence, readPresent } from './postgres-presence.ts';
import { requireUsable } from './postgres-usable.ts';

const INT8 = 20;
const TRIES = 5;

/** The default number of connections. */
const CONNECTIONS = 10;

/**
 * The settings of each connection. A frozen process must not hold locks for ever. With `synchronous_commit` off, a
 * commit returns before it is on disk, and an answered webhook could be lost. PgBouncer refuses most settings in the
 * connection string.
 */
const SET_UP = `select set_config('idle_in_transaction_session_timeout', '15s', false),
  case current_setting('synchronous_commit') when 'off' then set_config('synchronous_commit', 'on', false) end`;

export interface PostgresOptions {
  /** In the pool. */
  readonly connections?: number | undefined;
  /** The name of our sessions in the server's views, unless the address has one. */
  readonly application?: string | undefined;
}

const connectionTo = (url: string, application = 'cvrsync') => ({
  connectionString: withFullCheck(url),
  application_name: application,
  connectionTimeoutMillis: 5_000,
  // A server that stopped answering must not block a caller.
  query_timeout: 60_000,
  keepAlive: true,
});

/** Opens a pool on the database; connects on first use. */
export function openPostgres(url: string, { connections = CONNECTIONS, application }: PostgresOptions = {}): Store {
  const pool = new Pool({
    ...connectionTo(url, application),
    max: connections,
    types: {
      // Our 64-bit integers are times, counters and 52-bit fencing tokens: exact as numbers.
      getTypeParser: (oid, format) => (oid === INT8 ? Number : types.getTypeParser(oid, format ?? 'text')),
    },
  });
  // A connection that dies while idle reports here; its next statement fails.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  const wrapped = new WeakMap<PoolClient, PoolClient>();
  const connect = () => connectTo(pool, url, wrapped);
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
    // PostgreSQL's vacuum does this.
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

/** A deadlock or serialisation failure, which a retry may pass. */
function isRepeatable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === '40P01' || code === '40001';
}

/** A connection of the pool whose network errors become {@link StoreError}; `wrapped` has those made before. */
async function connectTo(pool: Pool, url: string, wrapped: WeakMap<PoolClient, PoolClient>): Promise<PoolClient> {
  const client = await pool.connect().catch((error: unknown) => Promise.reject(unreachable(url, error)));
  const known = wrapped.get(client);
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
  wrapped.set(client, telling);
  return telling;
}

/**
 * SQLSTATE classes of a lost or refused connection and of a server that stops, is full, fails or is a standby; other
 * classes concern a statement.
 */
const UNREACHABLE = /^(08|53|57P0|57014|58|25006|25P03)/;

function asStores(error: unknown): unknown {
  if (error instanceof DatabaseError && !UNREACHABLE.test(error.code ?? '')) return error;
  return new StoreError(`did not answer: ${wordsOf(error)}`, error);
}

function unreachable(url: string, error: unknown): StoreError {
  return new StoreError(`at ${placeOf(url)} cannot be reached (${wordsOf(error)}): ${adviceFor(error)}`, error);
}

/** For a host with several addresses, node-postgres throws an AggregateError without a message. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(wordsOf).join('; ');
  return errorText(error);
}
