/** Checks that a database can hold a store, and that its connections keep our settings. */
import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';

/** The oldest major version that cvrsync is tested with. */
const LEAST_VERSION = 13;

export type Connect = () => Promise<PoolClient>;

interface Found {
  readonly version: number;
  readonly encoding: string;
  readonly database: string;
  readonly pid: number;
}

/**
 * Throws if the version or encoding is not supported, or if a pooler shares the sessions that hold our locks and
 * settings.
 */
export async function requireUsable(connect: Connect): Promise<void> {
  const client = await connect();
  try {
    const { rows } = await client.query<Found>(`select current_setting('server_version_num')::int / 10000 as version,
      current_setting('server_encoding') as encoding, current_database() as database, pg_backend_pid() as pid`);
    const [found] = rows;
    if (found === undefined) throw new Error('PostgreSQL does not report its version');
    const { version, encoding, database, pid } = found;
    if (version < LEAST_VERSION)
      throw new Error(`The store is on PostgreSQL ${version}: cvrsync needs ${LEAST_VERSION} or newer`);
    if (encoding !== 'UTF8')
      throw new Error(
        `The database ${database} has the encoding ${encoding}, which cannot hold every text: create one with \`create database cvrsync encoding 'UTF8' template template0\``,
      );
    // The server tells each client its process id; a pooler answers for many.
    if (Reflect.get(client, 'processID') !== pid && (await sharesSessions(client, connect)))
      throw new Error(
        'The store is reached through a pooler that shares sessions, such as PgBouncer with pool_mode = transaction: ' +
          'the lock that proves a daemon alive, and the settings of a connection, do not last there. ' +
          "Set pool_mode = session for the database of cvrsync, or write PostgreSQL's own address",
      );
  } finally {
    client.release();
  }
}

/** Whether two connections share sessions, as with PgBouncer in transaction mode. */
async function sharesSessions(one: PoolClient, connect: Connect): Promise<boolean> {
  const other = await connect();
  const mark = async (client: PoolClient): Promise<string> => {
    const token = randomUUID();
    await client.query(`select set_config('cvrsync.session', '${token}', false)`);
    return token;
  };
  const isOwn = async (client: PoolClient, token: string): Promise<boolean> => {
    const { rows } = await client.query<{ token: string | null }>(
      `select current_setting('cvrsync.session', true) as token`,
    );
    return rows[0]?.token === token;
  };
  try {
    const [ours, theirs] = [await mark(one), await mark(other)];
    // An odd number of statements, so that sessions assigned in turn reach another client.
    for (const [client, token] of [
      [one, ours],
      [one, ours],
      [other, theirs],
    ] as const)
      if (!(await isOwn(client, token))) return true;
    return false;
  } finally {
    other.release();
  }
}
