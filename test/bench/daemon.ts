/** The real daemon as a process of its own: `serve` on a configuration in a folder that is removed in the end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The program's entry: as sources, or as the package and the image have it, from `npm run build`. */
export const SOURCES = fileURLToPath(new URL('../../src/cvrsync.js', import.meta.url));
export const BUILT = fileURLToPath(new URL('../../dist/cvrsync.js', import.meta.url));

const entry = readFileSync(SOURCES, 'utf8');
/** What the entry's first line starts Node with. */
const [, variables = '', flags = ''] = /^#!\/usr\/bin\/env -S (.*) node (.+)$/mu.exec(entry) ?? [];
/** What the entry sets besides. */
const [, setFlag = ''] = /setFlagsFromString\('(.+)'\)/u.exec(entry) ?? [];
/** All flags that the program runs with. */
export const FLAGS: readonly string[] = [...flags.split(' '), setFlag];
export const ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  variables.split(' ').map((variable) => variable.split('=', 2)),
);

export interface Daemon {
  readonly pid: number;
  readonly origin: string;
  /** Where the admin listener is. */
  readonly admin: string;
  /** From the start of the process to its word that it is ready. */
  readonly readyMs: number;
  /** One value of /metrics, 0 if it is not there. */
  metric(name: string): Promise<number>;
  /** Resident memory in MB. */
  rss(): Promise<number>;
  /** The most that was ever resident, in MB; Linux tells. */
  mostRss(): number;
  /** CPU seconds of the thread that runs JavaScript, since its start; Linux tells. */
  threadSeconds(): number;
  stop(): Promise<void>;
}

/** A folder for one bench. TMPDIR says where: a disk in memory would make every fsync free. */
export async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'cvrsync-bench-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface DaemonOptions {
  readonly entry?: string;
  readonly store?: string | undefined;
  /** Other parts of its configuration. */
  readonly more?: object;
  /** A command that confines what it starts, and becomes it. */
  readonly under?: readonly string[];
}

/** Starts the daemon on `cvrsync.db` in the folder, or on the store that is named. */
export async function startDaemon(
  folder: string,
  providers: object,
  { entry = SOURCES, store = join(folder, 'cvrsync.db'), more = {}, under = [] }: DaemonOptions = {},
): Promise<Daemon> {
  const config = join(folder, `cvrsync-${randomUUID()}.yaml`);
  const content = {
    server: { port: 0 },
    admin: { openMetrics: true },
    store,
    connector: { webhook: { auth: { method: 'None' } }, providers },
    ...more,
  };
  await writeFile(config, JSON.stringify(content));
  const began = performance.now();
  const nodeFlags = [...FLAGS, ...(process.env['CVRSYNC_BENCH_NODE_FLAGS']?.split(' ') ?? [])];
  const [command = process.execPath, ...rest] = [...under, process.execPath];
  const child = spawn(command, [...rest, ...nodeFlags, entry, '--config', config, 'serve'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...ENVIRONMENT },
  });
  const { origin, admin } = await readyAt(child);
  const readyMs = performance.now() - began;
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${admin}/metrics`)).text();
    return Number(new RegExp(`^${name} (.+)$`, 'mu').exec(text)?.[1] ?? 0);
  };
  return {
    pid: child.pid ?? 0,
    origin,
    admin,
    readyMs,
    metric,
    rss: async () => (await metric('process_resident_memory_bytes')) / 1_000_000,
    mostRss: () => mostRssOf(child.pid ?? 0),
    threadSeconds: () => threadSecondsOf(child.pid ?? 0),
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

function mostRssOf(pid: number): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kib) * 1_024) / 1_000_000;
}

/** Of the main thread, whose id is the process's; the scheduler counts in nanoseconds. */
function threadSecondsOf(pid: number): number {
  const [ns] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(ns) / 1e9;
}

/** Starts and stops it once: the first start with a mapping has every record looked at, which a bench would count as work. */
export async function settleMapping(folder: string, providers: object, store?: string): Promise<void> {
  const daemon = await startDaemon(folder, providers, { store });
  await daemon.stop();
}

/** Resolves with the addresses of both listeners. Errors of the daemon go to stderr; it warns if a bench has no CRM. */
async function readyAt(child: ChildProcess): Promise<{ readonly origin: string; readonly admin: string }> {
  return new Promise((resolve, reject) => {
    if (child.stderr === null) return reject(new Error('the daemon has no stderr'));
    const lines = createInterface({ input: child.stderr });
    child.once('exit', (code) => reject(new Error(`the daemon ended with code ${code}`)));
    lines.on('line', (line) => {
      const [, origin, admin] = /"url":"([^"]+)","admin":"([^"]+)".*"msg":"ready"/u.exec(line) ?? [];
      if (origin !== undefined && admin !== undefined) resolve({ origin, admin });
      else if (!/^\{"level":"(?:info|warn)"/u.test(line)) process.stderr.write(`${line}\n`);
    });
  });
}
