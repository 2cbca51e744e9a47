/** A container of cvrsync as a process of this machine: its command, environment, configuration and secrets are the shipped ones. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isJsonObject } from '../../src/protocol/text/json.ts';
import { ENTRY, ENVIRONMENT } from '../support/program.ts';
import type { Clock } from './clock.ts';
import { freePort } from './ports.ts';
import type { ShippedDaemon } from './shipped.ts';

/** What differs on this machine: no container has an address of its own, and nobody else is real. */
export interface Surroundings {
  readonly folder: string;
  readonly clock: Clock;
  /** The value of each secret by its name in the configuration. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Keys laid over the configuration, map by map. */
  readonly over: object;
  /** Replaces the database's address. */
  readonly store: (shipped: string) => string;
}

export interface Daemon {
  readonly name: string;
  readonly port: number;
  readonly adminPort: number;
  readonly isUp: boolean;
  start(): Promise<void>;
  /** Starts it until it runs, as `restart: unless-stopped` does. */
  startAgain(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Runs a command in the same container; what it printed. */
  command(...args: readonly string[]): Promise<string>;
  /** Lines of the log by the minute of the daemon's time. */
  readonly linesByMinute: ReadonlyMap<number, number>;
  /** The last lines of the log. */
  readonly tail: readonly string[];
}

const KEPT_LINES = 400;
const AGAIN_MS = 200;

/** Where a container keeps its SQLite store. */
export const dataOf = (folder: string, shipped: ShippedDaemon | undefined): string =>
  join(folder, shipped?.name ?? '', 'app/data');

export async function placeDaemon(shipped: ShippedDaemon, around: Surroundings): Promise<Daemon> {
  const { clock, secrets } = around;
  const root = join(around.folder, shipped.name);
  const [port, adminPort] = [await freePort(), await freePort()];
  const work = join(root, 'app');
  const file = join(root, shipped.environment['CVRSYNC_CONFIG'] ?? '');
  const files: Record<string, string> = {
    [file]: JSON.stringify(placed(shipped.configuration, around, port, adminPort)),
  };
  for (const [name, path] of Object.entries(shipped.secrets)) files[join(root, path)] = `${secrets[name] ?? ''}\n`;
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
  }
  mkdirSync(join(work, 'data'), { recursive: true });
  const env: Record<string, string> = { ...ENVIRONMENT, ...clock.environment };
  for (const [name, value] of Object.entries(shipped.environment))
    env[name] = value.startsWith('/run/') || value.startsWith('/etc/') ? join(root, value) : value;
  const [, ...args] = shipped.command.map((word) => (word.endsWith('cvrsync.js') ? ENTRY : word));
  const linesByMinute = new Map<number, number>();
  const tail: string[] = [];
  let child: ChildProcess | undefined;

  const daemon: Daemon = {
    name: shipped.name,
    port,
    adminPort,
    linesByMinute,
    tail,
    get isUp() {
      return child !== undefined;
    },
    signal: (name) => void child?.kill(name),
    async end(signal) {
      if (child === undefined) return;
      const [running, ended] = [child, once(child, 'exit')];
      child = undefined;
      running.kill(signal);
      await ended;
    },
    async start() {
      const started = spawn(process.execPath, args, { cwd: work, env, stdio: ['ignore', 'ignore', 'pipe'] });
      child = started;
      await new Promise<void>((resolve, reject) => {
        createInterface({ input: started.stderr }).on('line', (line) => {
          tail.push(line);
          if (tail.length > KEPT_LINES) tail.shift();
          const minute = Math.floor(clock.now() / 60_000);
          linesByMinute.set(minute, (linesByMinute.get(minute) ?? 0) + 1);
          if (line.includes('"ready"')) resolve();
        });
        started.once('exit', (code) => {
          if (child === started) child = undefined;
          reject(new Error(`${shipped.name} ended with exit code ${code}: ${tail.slice(-5).join('\n')}`));
        });
      });
    },
    async startAgain() {
      while (child === undefined) await daemon.start().catch(() => sleep(AGAIN_MS));
    },
    async command(...words) {
      const [program] = args.slice(args.indexOf(ENTRY));
      const { stdout } = await promisify(execFile)(process.execPath, [program ?? '', ...words], { cwd: work, env });
      return stdout;
    },
  };
  return daemon;
}

/** The configuration with the addresses of this machine. */
function placed(shipped: object, { over, store }: Surroundings, port: number, adminPort: number): object {
  const { store: address, server, admin, ...rest } = Object(shipped);
  const here = { host: '127.0.0.1', trustProxy: server?.trustProxy === undefined ? [] : ['127.0.0.1'] };
  const own = {
    ...rest,
    store: store(address),
    server: { ...server, ...here, port },
    admin: { ...admin, ...here, port: adminPort },
  };
  return Object(laidOver(own, over));
}

function laidOver(own: unknown, over: unknown): unknown {
  if (!isJsonObject(own) || !isJsonObject(over)) return over;
  const merged: Record<string, unknown> = { ...own };
  for (const [key, value] of Object.entries(over)) merged[key] = key in own ? laidOver(own[key], value) : value;
  return merged;
}
