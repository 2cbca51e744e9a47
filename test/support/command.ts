/** A real `cvrsync` command in a process of its own, for tests that kill it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { ENTRY, ENVIRONMENT } from './program.ts';

export interface Ended {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly ended: Promise<Ended>;
  /** Sends a signal that the process outlives: SIGSTOP, SIGCONT. */
  signal(name: NodeJS.Signals): void;
  /** Sends a signal and resolves when the process has ended. */
  kill(signal: NodeJS.Signals): Promise<Ended>;
}

/** Starts a command; killed with the test. `options` are those of Node itself. */
export function startCommand(args: readonly string[], folder: string, options: readonly string[] = []): Running {
  const child = spawn(process.execPath, [...options, ENTRY, ...args], {
    cwd: folder,
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  const ended = once(child, 'close').then((): Ended => ({ code: child.exitCode, ...texts }));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    ended,
    signal: (name) => void child.kill(name),
    kill(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
