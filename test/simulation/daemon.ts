/** A daemon of the world: the real parts on a real store, which may die at any moment and start again on what was durable. */
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
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
import type { Store } from '../../src/store/store.ts';
import { newOwner, type Owner, type Time } from './time.ts';

export interface Daemon {
  readonly owner: Owner;
  /** For people and oracles: not the daemon's own view of it, so that it outlives nobody. */
  readonly store: Store;
  /** Commits so far. */
  readonly commits: number;
  /** When the next work falls due by its clock; 0 while it works. */
  nextDue(): number;
  /** Dies right after a durable commit, or amid the transaction before it: so many of them from now. */
  dieAt(commits: number, when: 'before' | 'after'): void;
  /** Kills it now. */
  kill(): void;
  /** Asks it to end, as SIGTERM does; it is dead afterwards. */
  stop(): void;
  handle(request: EmulatorRequest): Promise<EmulatorAnswer>;
}

export interface DaemonOptions {
  readonly config: Config;
  /** Where the file of its store is copied when it dies. */
  readonly nextStore: string;
  readonly name: string;
  readonly time: Time;
  readonly log: Logger;
  /** What its clock is ahead of the world's, in ms. */
  readonly skew: () => number;
  readonly url: string;
}

/** Starts a daemon as `startApp` does, without sockets. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const owner = newOwner(options.name);
  return options.time.as(owner, () => start(options, owner));
}

async function start({ config, nextStore, time, log, skew, url }: DaemonOptions, owner: Owner): Promise<Daemon> {
  const now = (): number => time.now() + skew();
  const opened = await openStore(config.store, { claim: true });
  const looking = new Database(config.store, { readonly: true });
  const death: Death = { left: Number.POSITIVE_INFINITY, when: 'after', commits: 0, kill };
  const store = mortal(opened, owner, death);
  let server: Server | undefined;

  function kill(): void {
    if (owner.isDead) return;
    copyDurable(config.store, nextStore);
    owner.die();
    looking.close();
    // Amid a query or a transaction this fails: nobody uses it any more.
    opened.close().catch(() => undefined);
  }

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
    store: opened,
    get commits() {
      return death.commits;
    },
    nextDue: () => nextDueIn(looking, now()),
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

/** Housekeeping may be late: it looks every minute. */
const NEXT_DUE = `select min(at) as at from (
  select min(due_at) as at from lane where due_at is not null and queue not in ('housekeeping', 'service-housekeeping')
  union all select 0 from lane where lease_until > @now
  union all select min(next_at) from delivery where state = 'due'
  union all select min(check_at) from pending_write
  union all select 0 from arrival)`;

function nextDueIn(db: Database.Database, now: number): number {
  const found: unknown = db.prepare(NEXT_DUE).pluck().get({ now });
  return typeof found === 'number' ? found : 0;
}

/** What a file system holds of a SQLite store whose process died: its file, its log and its marker. */
function copyDurable(file: string, to: string): void {
  mkdirSync(path.dirname(to));
  for (const name of readdirSync(path.dirname(file)))
    if (!/-shm$|\.lock/.test(name))
      copyFileSync(path.join(path.dirname(file), name), path.join(path.dirname(to), name));
  rmSync(path.dirname(file), { recursive: true });
}

const GRACE_MS = 5_000;

interface Death {
  left: number;
  when: 'before' | 'after';
  commits: number;
  readonly kill: () => void;
}

const FOR_EVER = new Promise<never>(() => undefined);

/** A store whose process dies with it: a write of a dead process does nothing and never ends. */
function mortal(store: Store, owner: Owner, death: Death): Store {
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
    const result = await untilDeath(store.write(mortalWork, options));
    death.commits += 1;
    if (dies('after')) return FOR_EVER;
    death.left -= 1;
    return result;
  };
  return new Proxy(store, { get: (target, name) => (name === 'write' ? write : Reflect.get(target, name, target)) });
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
