/** Runs the program in this process and keeps what it printed. */
import { PassThrough } from 'node:stream';
import type { ExitCode } from '../../src/commands/cli/command.ts';
import { main } from '../../src/main.ts';

export interface Ran {
  readonly code: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line with an environment of its own. */
export async function runCli(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const printed = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof printed) => ({
    write: (text: string) => {
      printed[name] += text;
    },
  });
  const world = { stdout: sink('stdout'), stderr: sink('stderr'), env, signal: new AbortController().signal };
  const code = await main(argv, world);
  return { code, ...printed };
}

/** Runs one command line with a person at the terminal, who types this. */
export async function askCli(typed: string, argv: readonly string[]): Promise<{ code: ExitCode; shown: string }> {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  let shown = '';
  const write = (text: string): void => {
    shown += text;
  };
  const sink = { isTTY: true, write };
  stdin.write(typed);
  const { signal } = new AbortController();
  const code = await main(argv, { stdin, stdout: sink, stderr: sink, env: {}, signal });
  return { code, shown };
}
