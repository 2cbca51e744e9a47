/**
 * A daemon of the world: the real parts on a real store, which may die at any moment. Its connections end with it, amid a
 * transaction too, and the next one starts on what was durable. Several share one file, which the product allows for
 * PostgreSQL only: each transaction begins with the only write lock, so they are as serial as PostgreSQL makes them.
 */
import Database from 'better-sqlite3';
import type { Logger } from 'pino';
import type { EmulatorAnswer, EmulatorRequest } from '../../providers/kit/emulator/emulator.ts';
import type { Config } from '../../src/config/load.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { openClient } from '../../src/http/outbound/client.ts';
import { createServer, type Server } from '../../src/http/server/server.ts';
import { type Running, startRunning } from '../../src/running.ts';
import { joinDaemons } from '../../src/runtime/daemons.ts';
import { createStoreWatch } from '../../src/runtime/store-watch.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { isPostgresUrl, newHolder, type Store } from '../../src/store/store.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { newOwner, type Owner, type Time } from './time.ts';

export interface Daemon {
  readonly owner: Owner;
  /** Of the claims that it makes. */
  readonly holder: number;
  /** Dies right after a durable commit, or amid the transaction before it: so many of them from now. */
  dieAt(commits: number, when: 'before' | 'after'): void;
  /** Kills it now. */
  kill(): void;
  /** Asks it to end, as SIGTERM does; it is dead afterwards. */
  stop(): void;
  handle(request: EmulatorRequest): Promise<EmulatorAnswer>;
}

export interface Disk {
  isFull: boolean;
}

export interface DaemonOptions {
  readonly config: Config;
  readonly name: string;
  readonly time: Time;
  readonly log: Logger;
  /** What its clock is ahead of the world's, in ms. */
  readonly skew: () => number;
  readonly url: string;
  /** The holders of daemons that live, this one left out. */
  readonly others: () => readonly number[];
  readonly disk: Disk;
}

/** Starts a daemon as `startApp` does, without sockets. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const owner = newOwner(options.name);
  return options.time.as(owner, async () => {
    const isShared = isPostgresUrl(options.config.store);
    // As one that holds the store's claim: it asks nothing of it with each write. A file has one claim only.
    const opened = await openStore(options.config.store, { claim: isShared, mayBeMoved: true });
    const kill = (): void => {
      if (owner.isDead) return;
      owner.die();
      // The connections to a server are cut with the process.
      if (!isShared) opened.close().catch(() => undefined);
    };
    try {
      return await start(options, { owner, opened, kill });
    } catch (error) {
      kill();
      throw error;
    }
  });
}

interface Process {
  readonly owner: Owner;
  readonly opened: Store;
  readonly kill: () => void;
}

async function start(
  { config, time, log, skew, url, others, disk }: DaemonOptions,
  { owner, opened, kill }: Process,
): Promise<Daemon> {
  const now = (): number => time.now() + skew();
  const death: Death = { left: Number.POSITIVE_INFINITY, when: 'after', kill };
  const holder = opened.engine === 'sqlite' ? newHolder(true) : opened.holder;
  const present = { holder, livingDaemons: async () => [...others(), holder], claimDaemon: async () => undefined };
  const store = mortal(onDisk(opened, disk), owner, death, opened.engine === 'sqlite' ? present : {});
  let server: Server | undefined;

  const metrics = createMetrics();
  const watch = createStoreWatch({ now, log, metrics });
  const membership = await joinDaemons({ store, digests: {}, roles: config.roles, now, log, metrics, watch });
  const counts = { refused: () => undefined, unproven: () => undefined };
  const listeners = { server: createServer({ log, counts }), admin: createServer({ log, counts }) };
  const running: Running = await startRunning(config, {
    ...{
      store,
      metrics,
      http: openClient().http,
      log,
      now,
      startedAt: now(),
      daemon: membership.id,
      counts,
      listeners,
    },
    alerting: { daemon: membership.name, outage: watch.outage },
    rulesAcceptedBy: undefined,
    look: () => undefined,
    isStopping: () => owner.isDead,
    live: { config, read: config },
  });
  await running.serve();
  await running.begin({ url, adminUrl: `${url}:8081`, own: url });
  server = listeners.server;
  return {
    owner,
    holder,
    dieAt: (commits, when) => void Object.assign(death, { left: commits, when }),
    kill,
    stop: () =>
      void time.as(owner, async () => {
        await running.stop(GRACE_MS);
        await membership.leave();
        kill();
      }),
    handle: (request) => ask(server, request),
  };
}

const GRACE_MS = 5_000;

interface Death {
  left: number;
  when: 'before' | 'after';
  readonly kill: () => void;
}

const FOR_EVER = new Promise<never>(() => undefined);

/** How each engine says that its disk is full. */
const FULL: Readonly<Record<Store['engine'], () => Error>> = {
  sqlite: () => new Database.SqliteError('database or disk is full', 'SQLITE_FULL'),
  postgres: () => new StoreError('did not answer: could not extend file: No space left on device', undefined),
};

/** A store that nothing can be written into while its disk is full, which shows at some statement, or at the commit. */
function onDisk(store: Store, disk: Disk): Store {
  const write: Store['write'] = (work, options) =>
    store.write(async (tx) => {
      const done = await work(tx);
      if (disk.isFull) throw FULL[store.engine]();
      return done;
    }, options);
  // Not the machine's: what it has free is no part of the world, and its answer comes from another thread.
  const freeBytes: Store['freeBytes'] = async () => (disk.isFull ? 0 : 2 ** 40);
  const own: Partial<Store> = store.engine === 'sqlite' ? { write, freeBytes } : { write };
  return new Proxy(store, { get: (target, name) => Reflect.get(Object.hasOwn(own, name) ? own : target, name) });
}

type Present = Partial<Pick<Store, 'holder' | 'livingDaemons' | 'claimDaemon'>>;

/** A store whose process dies with it: a write of a dead process does nothing and never ends. */
function mortal(store: Store, owner: Owner, death: Death, present: Present): Store {
  const dies = (when: Death['when']): boolean => {
    if (death.when !== when || death.left > 1) return false;
    death.kill();
    return true;
  };
  const untilDeath = <T>(work: Promise<T>): Promise<T> =>
    work.then(
      (result) => (owner.isDead ? FOR_EVER : result),
      (error: unknown) => (owner.isDead ? FOR_EVER : Promise.reject(error)),
    );
  const write: Store['write'] = async (work, options) => {
    if (owner.isDead) return FOR_EVER;
    // Claims and slots of calls, many in a second: what dies there did nothing.
    if (options?.ephemeral === true) return untilDeath(store.write(work, options));
    const mortalWork: typeof work = async (tx) => {
      const done = await work(tx);
      return dies('before') ? FOR_EVER : done;
    };
    // Without options: another thread that waits for the disk ends at a time of its own.
    const result = await untilDeath(store.write(mortalWork));
    if (dies('after')) return FOR_EVER;
    death.left -= 1;
    return result;
  };
  const own: Present & Pick<Store, 'write'> = { ...present, write };
  return new Proxy(store, { get: (target, name) => Reflect.get(Object.hasOwn(own, name) ? own : target, name) });
}

async function ask(server: Server | undefined, { method, path, headers, body }: EmulatorRequest) {
  if (server === undefined) return { status: 503 };
  const answer = await server.inject({
    method: METHODS.find((each) => each === method) ?? 'GET',
    url: path,
    headers: { ...headers, host: 'daemon.sim' },
    ...(body !== '' && { payload: body }),
  });
  const type = answer.headers['content-type'];
  return {
    status: answer.statusCode,
    headers: typeof type === 'string' ? { 'content-type': type } : {},
    body: answer.body,
  };
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
