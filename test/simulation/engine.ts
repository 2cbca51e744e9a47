/** The store of a world: a SQLite file, or a database of a real PostgreSQL. */
import path from 'node:path';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { type Connections, openConnections } from './connections.ts';
import type { Time } from './time.ts';

export interface Engine {
  /** Of the store, which does not exist yet. */
  readonly url: string;
  /** Undefined for a file. */
  readonly connections: Connections | undefined;
  /** When the next work falls due; 0 while a daemon is at work. */
  nextDue(now: number): number | Promise<number>;
  /** Before the machine's network is back. */
  close(): Promise<void>;
  /** After it. */
  remove(): Promise<void>;
}

/** Housekeeping may be late: it looks every minute. */
const nextDueSince = (now: string): string => `select case
  when exists (select 1 from lane where lease_until > ${now}) then 0 else min(at) end as at from (
  select min(due_at) as at from lane where due_at is not null and queue not in ('housekeeping', 'service-housekeeping')
  union all select min(next_at) from delivery where state = 'due'
  union all select min(check_at) from pending_write
  union all select 1 from arrival) as due`;

export function sqliteIn(folder: string): Engine {
  const url = path.join(folder, 'store.db');
  let db: Database.Database | undefined;
  return {
    url,
    connections: undefined,
    nextDue(now) {
      db ??= new Database(url, { readonly: true });
      const found: unknown = db.prepare(nextDueSince('@now')).pluck().get({ now });
      return typeof found === 'number' ? found : Number.POSITIVE_INFINITY;
    },
    async close() {
      db?.close();
    },
    remove: async () => undefined,
  };
}

/**
 * Sessions that begin afterwards have no limit on a silent transaction, whatever they set: it counts the time of the machine, which is
 * long on a busy one. What stands still in the world's time is ended by the world (`stall`).
 */
const WITHOUT_LIMIT = `
  create function public.set_config(name text, value text, is_local boolean) returns text language sql as $$
    select case name when 'idle_in_transaction_session_timeout' then value else pg_catalog.set_config(name, value, is_local) end
  $$;
  do $$ begin execute format('alter database %I set search_path = public, pg_catalog', current_database()); end $$`;

/** Creates a database on a server that listens on a Unix socket. Call it while the machine's network is there. */
export async function postgresAt(server: string, { seed, time }: { seed: number; time: () => Time }): Promise<Engine> {
  const url = await createDatabase(server);
  const folder = new URL(url).searchParams.get('host') ?? '';
  const eye = new Client({ connectionString: url });
  eye.on('error', () => undefined);
  await eye.connect();
  await eye.query(WITHOUT_LIMIT);
  const connections = openConnections({ path: `${folder}/.s.PGSQL.5432`, time, seed, eye });
  return {
    url,
    connections,
    async nextDue(now) {
      const [found] = await connections.ask<{ at: string | null }>(nextDueSince('$1'), [now]);
      return Number(found?.at ?? Number.POSITIVE_INFINITY);
    },
    async close() {
      await connections.close();
      await eye.end();
    },
    remove: () => dropDatabase(server, url),
  };
}
