/** A store that cannot be used for a while: a PostgreSQL that stops, or a file that another program locks. */
import { once } from 'node:events';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { createDatabase, initialise, launch, newPlace, quit, urlAt } from '../support/postgres.ts';

export interface StoppableStore {
  /** Lets the daemons use it again. */
  start(): Promise<void> | void;
  /** A PostgreSQL stops as an operator stops it: sessions end at once. */
  stop(): Promise<void> | void;
}

export interface Database extends StoppableStore {
  /** The store's address. */
  readonly url: string;
  remove(): Promise<void>;
}

/** A SQLite store; it stops while another program writes to it and does not end. */
export function lockable(file: string): StoppableStore {
  let other: Sqlite.Database | undefined;
  return {
    stop() {
      other = new Sqlite(file);
      other.exec('begin immediate');
    },
    start() {
      other?.close();
      other = undefined;
    },
  };
}

export async function startDatabase(): Promise<Database> {
  const place = newPlace();
  const at = { data: join(place.folder, 'data'), socket: place.folder };
  await initialise(place, at.data);
  let server = await launch(place, at, []);
  return {
    url: await createDatabase(urlAt(place.folder)),
    async start() {
      server = await launch(place, at, []);
    },
    async stop() {
      const ended = once(server, 'exit');
      server.kill('SIGINT');
      await ended;
    },
    async remove() {
      await quit(server);
      await place.remove();
    },
  };
}
