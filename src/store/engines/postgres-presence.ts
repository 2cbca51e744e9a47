/**
 * Tells which daemons on a PostgreSQL store are alive. Each holds an advisory lock on its own connection, and the server
 * frees the lock when the connection ends. Needs no clock.
 */
import { type Kysely, sql } from 'kysely';
import type { Client } from 'pg';
import { FIRST_DAEMON, newHolder } from '../store.ts';

/** The class of our advisory locks: any constant that no other program uses. */
const OURS = 485_723_190;

export interface Presence {
  readonly holder: number;
  /** Takes the lock of a daemon, unless a live connection holds it already. */
  claim(): Promise<void>;
  close(): Promise<void>;
}

export function openPresence(connect: () => Promise<Client>): Presence {
  let holder = newHolder(false);
  let held: Client | undefined;
  return {
    get holder() {
      return holder;
    },
    async claim() {
      if (held !== undefined) return;
      if (holder < FIRST_DAEMON) holder = newHolder(true);
      const client = await connect();
      client.on('end', () => {
        if (held === client) held = undefined;
      });
      await lockAs(client, holder).catch(async (error: unknown) => {
        await client.end();
        throw error;
      });
      held = client;
    },
    async close() {
      await held?.end();
    },
  };
}

async function lockAs(client: Client, holder: number): Promise<void> {
  // A machine that loses power does not close its connection: without this the server would keep it for two hours.
  await client.query(`select set_config('tcp_keepalives_idle', '10', false),
        set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)`);
  await client.query('select pg_advisory_lock($1, $2)', [OURS, holder]);
}

/** The holders of live daemons. */
export async function readPresent<T>(db: Kysely<T>): Promise<readonly number[]> {
  const { rows } = await sql<{ holder: number }>`select objid::bigint as holder from pg_locks
    where locktype = 'advisory' and classid = ${OURS} and objsubid = 2 and granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
  return rows.map(({ holder }) => holder);
}
