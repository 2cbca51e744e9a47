/** The real program in a folder without a configuration, which somebody sets up in a browser. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { ENTRY, ENVIRONMENT } from './program.ts';
import { newFolder } from './stores.ts';

export interface FirstStart {
  readonly folder: string;
  /** Where its admin listener is. */
  readonly base: string;
  /** The newest link, and the code in it. */
  readonly link: string;
  readonly code: string;
  /** All that the program printed, and its log. */
  readonly printed: readonly string[];
  readonly log: readonly string[];
  /** Has it print another link, and resolves with that. */
  hangUp(): Promise<string>;
  /** Kills it, and starts it again in the same folder. */
  restart(): Promise<void>;
  /** Resolves once a line of the log holds this text. */
  logged(text: string): Promise<string>;
}

/** Starts it; killed with the test. `entry`: another program than the build of this run. */
export async function firstStart(
  env: Readonly<Record<string, string>> = {},
  { folder = newFolder(), entry = ENTRY }: { readonly folder?: string; readonly entry?: string } = {},
): Promise<FirstStart> {
  const [printed, log]: [string[], string[]] = [[], []];
  let child: ChildProcess | undefined;
  let link = '';
  let told = Promise.withResolvers<string>();
  const waiting: { readonly text: string; readonly found: (line: string) => void }[] = [];

  async function start(): Promise<void> {
    told = Promise.withResolvers();
    const started = spawn(process.execPath, [entry, 'serve'], {
      cwd: folder,
      env: {
        ...ENVIRONMENT,
        CVRSYNC_ADMIN_PORT: link === '' ? '0' : new URL(link).port,
        CVRSYNC_SERVER_PORT: '0',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    createInterface({ input: started.stdout }).on('line', (line) => {
      printed.push(line);
      const [found] = /http:\S+\/setup#\S+$/u.exec(line) ?? [];
      if (found === undefined) return;
      link = found;
      told.resolve(found);
    });
    createInterface({ input: started.stderr }).on('line', (line) => {
      log.push(line);
      for (const each of waiting) if (line.includes(each.text)) each.found(line);
    });
    started.once('exit', (code) => told.reject(new Error(`it ended with ${code}: ${log.slice(-5).join('\n')}`)));
    await told.promise;
  }

  async function stop(): Promise<void> {
    const [running, ended] = [child, child && once(child, 'exit')];
    child = undefined;
    running?.kill('SIGKILL');
    await ended;
  }

  onTestFinished(stop);
  await start();
  return {
    folder,
    printed,
    log,
    get base() {
      return new URL(link).origin;
    },
    get link() {
      return link;
    },
    get code() {
      return new URL(link).hash.slice(1);
    },
    hangUp() {
      told = Promise.withResolvers();
      child?.kill('SIGHUP');
      return told.promise;
    },
    async restart() {
      await stop();
      await start();
    },
    logged: (text) =>
      new Promise((found) => {
        const known = log.find((line) => line.includes(text));
        if (known !== undefined) found(known);
        else waiting.push({ text, found });
      }),
  };
}
