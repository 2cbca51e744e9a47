/** A PostgreSQL that stops and starts again. */
import { once } from 'node:events';
import { join } from 'node:path';
import { createDatabase, initialise, launch, newPlace, quit, urlAt } from '../support/postgres.ts';

export interface Database {
  /** The store's address. */
  readonly url: string;
  start(): Promise<void>;
  /** Stops as an operator stops it: sessions end at once. */
  stop(): Promise<void>;
  remove(): Promise<void>;
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
