/** The store on PostgreSQL: many replicas may share it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, Kysely, PostgresDialect, type PostgresPoolClient, sql } from 'kysely';
import { Client, DatabaseError, Pool, types } from 'pg';
import { errorText } from '../protocol/text/error-text.ts';
import { openPresence, readPresent } from './postgres/presence.ts';
import type { StoreSchema } from './schema.ts';
import type { Store } from './store.ts';
import { StoreError } from './store-error.ts';

const INT8 = 20;
const TRIES = 5;

/** Connections that a daemon keeps where nothing else is said. */
const CONNECTIONS = 10;

const connectionTo = (url: string) => ({
  connectionString: url,
  connectionTimeoutMillis: 5_000,
  // A server that stopped answering must not hold a caller, nor a frozen process of ours hold locks, for ever.
  query_timeout: 60_000,
  idle_in_transaction_session_timeout: 15_000,
  keepAlive: true,
});

/** Opens a pool of so many connections on the database at `url`. Connects on first use. */
export function openPostgres(url: string, connections = CONNECTIONS): Store {
  const pool = new Pool({
    ...connectionTo(url),
    max: connections,
    types: {
      // Every 64-bit integer of ours is a time, a counter or a 52-bit fence: exact as a number.
      getTypeParser: (oid, format) => (oid === INT8 ? Number : types.getTypeParser(oid, format ?? 'text')),
    },
  });
  // A connection that dies between two statements reports here; the next statement on it fails, which is where it counts.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  const told = new WeakMap<PostgresPoolClient, PostgresPoolClient>();
  const db = new Kysely<StoreSchema>({
    dialect: new PostgresDialect({
      pool: { connect: () => connectTo(pool, url, told), end: () => pool.end(), options: pool.options },
      // With `off` a commit returns before it is on disk, and an answered webhook could be lost.
      onCreateConnection: async (connection) => {
        await connection.executeQuery(
          CompiledQuery.raw(
            `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`,
          ),
        );
      },
    }),
  });

  const presence = openPresence(async () => {
    const client = new Client(connectionTo(url));
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
async function connectTo(
  pool: Pool,
  url: string,
  told: WeakMap<PostgresPoolClient, PostgresPoolClient>,
): Promise<PostgresPoolClient> {
  const client = await pool.connect().catch((error: unknown) => Promise.reject(unreachable(url, error)));
  const known = told.get(client);
  if (known !== undefined) return known;
  const telling: PostgresPoolClient = new Proxy<PostgresPoolClient>(client, {
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
  const advice = 'see that PostgreSQL runs there and lets us in, and that the setting `store` names it';
  return new StoreError(`at ${placeOf(url)} cannot be reached (${wordsOf(error)}): ${advice}`, error);
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

/** node-postgres throws several at once where a name has several addresses, without a message. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(wordsOf).join('; ');
  return errorText(error);
}
