/** The store on PostgreSQL: many replicas may share it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import { Pool, types } from 'pg';
import type { Schema } from './schema.ts';
import type { Store } from './store.ts';

const INT8 = 20;
const TRIES = 5;

/** Opens a pool on the database at `url`. Connects on first use. */
export function openPostgres(url: string): Store {
  const pool = new Pool({
    connectionString: url,
    max: 10,
    connectionTimeoutMillis: 5_000,
    // A server that stopped answering must not hold a caller, nor a frozen process of ours hold locks, for ever.
    query_timeout: 60_000,
    idle_in_transaction_session_timeout: 15_000,
    keepAlive: true,
    types: {
      // Every 64-bit integer of ours is a time, a counter or a 48-bit epoch: exact as a number.
      getTypeParser: (oid, format) => (oid === INT8 ? Number : types.getTypeParser(oid, format ?? 'text')),
    },
  });
  // A connection that dies between two statements reports here; the next statement on it fails, which is where it counts.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({
      pool,
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
    async claimDaemon() {},
    async checkpoint() {
      return { walBytes: undefined };
    },
    async freeBytes() {
      return undefined;
    },
    async close() {
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
