/** The real command `backfill` as a process of its own, its memory watched. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILT, ENVIRONMENT, FLAGS } from './daemon.ts';

/** A property that need not be unique: the emulated account looks through all its records for one that must. */
export const NUMBER = 'cvr_number';

/** Builds the program that is started. */
export function build(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
}

export interface Backfill {
  /** What it said in the end; 0 if it was killed. */
  readonly ended: Promise<{ readonly linked: number; readonly killed: boolean }>;
  /** Resident memory in MB, a few times a second. */
  readonly rss: readonly number[];
  kill(): void;
}

const WATCH_MS = 250;
const PAGE_BYTES = 4_096;

/** Starts it on `cvrsync.db` in the folder; `upstream` is where the monitoring service is, if there is one. */
export function startBackfill(
  folder: string,
  settings: object,
  options: readonly string[],
  upstream?: string,
): Backfill {
  const config = join(folder, 'cvrsync.json');
  const content = {
    store: join(folder, 'cvrsync.db'),
    connector: {
      webhook: { auth: { method: 'None' } },
      providers: { hubspot: { use: 'hubspot', ...settings, match: { property: NUMBER } } },
      ...(upstream !== undefined && { upstream: { baseUrl: upstream, accessKey: 'none', requestsPerMinute: 100_000 } }),
      limits: { leaseSeconds: 5 },
    },
  };
  writeFileSync(config, JSON.stringify(content));
  const args = [
    ...FLAGS,
    BUILT,
    '--config',
    config,
    '--json',
    '--log-level',
    'error',
    'backfill',
    'hubspot',
    '--yes',
    ...options,
  ];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...ENVIRONMENT },
  });
  const rss: number[] = [];
  const watch = setInterval(() => {
    try {
      const pages = Number(readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ')[1]);
      rss.push((pages * PAGE_BYTES) / 1_000_000);
    } catch {
      // It ended meanwhile, or this is no Linux.
    }
  }, WATCH_MS);
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'close').then(() => {
    clearInterval(watch);
    if (child.signalCode !== null) return { linked: 0, killed: true };
    if (child.exitCode !== 0) throw new Error(`backfill ended with code ${child.exitCode}: ${said}`);
    const { linked }: { linked: number } = JSON.parse(said);
    return { linked, killed: false };
  });
  return { ended, rss, kill: () => void child.kill('SIGKILL') };
}
