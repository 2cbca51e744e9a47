/** A watcher in a process of its own, which a test kills. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { builtScript, ENVIRONMENT } from '../../support/program.ts';

/** What the process watches: the store's URL, its clock at the start in ms, and a file or the settings of Datafordeler. */
export interface Watched {
  readonly url: string;
  readonly start: number;
  readonly source: { readonly file: string } | { readonly datafordeler: object; readonly files: string };
}

export async function startWatcher(watched: Watched): Promise<{ kill(): Promise<void> }> {
  const script = builtScript(join(import.meta.dirname, 'watch-process.ts'));
  const args = [script, JSON.stringify(watched)];
  const child = spawn(process.execPath, args, { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  await once(child.stdout, 'data');
  return { kill };
}
