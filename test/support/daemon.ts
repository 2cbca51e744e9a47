/** The real daemon in a process of its own, for tests that kill it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { ENTRY, ENVIRONMENT } from './program.ts';
import { newFolder } from './stores.ts';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Daemon {
  /** Where it listens; another port after each start. Undefined while it is down. */
  readonly url: string | undefined;
  /** Where its admin listener is. */
  readonly adminUrl: string | undefined;
  /** Resolves once it listens; rejects with what it said where it ends before. */
  start(): Promise<void>;
  /** Writes another configuration, or what is none. */
  rewrite(config: object | string): Promise<void>;
  /** Sends a signal that the process outlives: SIGSTOP, SIGCONT, SIGHUP. */
  signal(name: NodeJS.Signals): void;
  /** Sends a signal and resolves when the process has ended. */
  kill(signal: NodeJS.Signals): Promise<Exit>;
  /** The log so far, over all starts. */
  readonly log: readonly string[];
}

/**
 * A daemon for a configuration, not yet started; killed with the test. `options` are those of Node itself. `first` is the
 * program of its first start, where that is another version's.
 */
export async function daemonWith(config: object, options: readonly string[] = [], first = ENTRY): Promise<Daemon> {
  const folder = newFolder();
  const file = path.join(folder, 'cvrsync.json');
  await writeFile(file, JSON.stringify(config));
  const log: string[] = [];
  let child: ChildProcess | undefined;
  let entry = first;
  let at: Addresses | undefined;

  async function kill(signal: NodeJS.Signals): Promise<Exit> {
    if (child === undefined) throw new Error('the daemon does not run');
    const [running, exited] = [child, once(child, 'exit')];
    [child, at] = [undefined, undefined];
    running.kill(signal);
    await exited;
    return { code: running.exitCode, signal: running.signalCode };
  }

  onTestFinished(async () => {
    if (child !== undefined) await kill('SIGKILL');
  });

  return {
    get url() {
      return at?.url;
    },
    get adminUrl() {
      return at?.admin;
    },
    log,
    rewrite: (next) => writeFile(file, typeof next === 'string' ? next : JSON.stringify(next)),
    signal: (name) => void child?.kill(name),
    kill,
    async start() {
      const args = [...options, entry, 'serve', '--config', file];
      entry = ENTRY;
      const started = spawn(process.execPath, args, {
        cwd: folder,
        env: ENVIRONMENT,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child = started;
      const lines = createInterface({ input: started.stderr });
      await new Promise<void>((resolve, reject) => {
        lines.on('line', (line) => {
          log.push(line);
          const ready = readyAt(line);
          if (ready === undefined) return;
          at = ready;
          resolve();
        });
        started.once('exit', (code) => {
          if (child === started) [child, at] = [undefined, undefined];
          reject(new Error(`the daemon ended with exit code ${code}: ${log.slice(-5).join('\n')}`));
        });
      });
    },
  };
}

interface Addresses {
  readonly url: string;
  readonly admin: string;
}

function readyAt(line: string): Addresses | undefined {
  if (!line.includes('"ready"')) return undefined;
  const { msg, url, admin }: { msg?: unknown; url?: unknown; admin?: unknown } = JSON.parse(line);
  return msg === 'ready' && typeof url === 'string' && typeof admin === 'string' ? { url, admin } : undefined;
}
